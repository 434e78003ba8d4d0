"""What is looked at: test functions and kernels in coordinates that show them well, and how they become one p-value."""

from .default import default_views
from .view import KINDS, Gain, Traits, View

__all__ = ["KINDS", "Gain", "Traits", "View", "default_views"]
