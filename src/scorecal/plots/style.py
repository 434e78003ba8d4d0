"""Colours and axes that all pictures share."""

from typing import Any

# Told apart in light and dark and by colour-blind readers (Okabe and Ito).
MAIN, WARN, GREY, BAND = "#0072b2", "#d55e00", "#808080", 0.2


def new_axes(ax: Any, n: int = 1, **options: Any) -> Any:
    """Return the axes given, or new ones; with n > 1 an array of them side by side."""
    if ax is not None:
        return ax
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        raise ImportError('Pictures need matplotlib: pip install "scorecal[plot]".') from None
    return plt.subplots(1, n, layout="constrained", **options)[1]


def trim(ax: Any) -> None:
    """Hide the upper and the right border."""
    ax.spines[["top", "right"]].set_visible(False)
