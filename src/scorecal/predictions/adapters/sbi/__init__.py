"""Posteriors of the sbi package, by their densities or vector fields, without sampling."""

from .posterior import from_sbi

__all__ = ["from_sbi"]
