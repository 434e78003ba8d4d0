"""What is looked at: test functions and kernels in coordinates that show them well, and how they become one p-value."""

from .default import default_views
from .view import KINDS, Gain, Shares, Traits, View

__all__ = ["KINDS", "Gain", "Shares", "Traits", "View", "default_views"]
