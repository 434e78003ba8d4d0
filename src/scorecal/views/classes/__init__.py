"""Views of predictions of classes: features with mean zero given the prediction, their null draws, and their words."""

from .judge import checked_classes, classes_test

__all__ = ["checked_classes", "classes_test"]
