"""Predictions that come in batches, for data that are larger than memory or lie on several machines."""

from .batches import Batches
from .judge import judge
from .verdict import Judgement

__all__ = ["Batches", "Judgement", "judge"]
