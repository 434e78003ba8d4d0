"""A result as a page that people can read."""

from .page import report_html

__all__ = ["report_html"]
