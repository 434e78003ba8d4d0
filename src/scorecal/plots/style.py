"""Colours, axes and files that all pictures share."""

import io
from typing import Any

from .._lib.extras import needs

# Told apart in light and dark and by colour-blind readers (Okabe and Ito).
MAIN, WARN, GREY, BAND = "#0072b2", "#d55e00", "#808080", 0.2


def new_axes(ax: Any, n: int = 1, **options: Any) -> Any:
    """Return the axes given, or new ones; with n > 1 an array of them side by side."""
    if ax is not None:
        return ax
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        raise needs("Pictures need matplotlib", "plot") from None
    return plt.subplots(1, n, layout="constrained", **options)[1]


def encoded(figure: Any, kind: str, **options: Any) -> bytes:
    """Return the figure as the bytes of a file of this kind, such as "png"."""
    file = io.BytesIO()
    figure.savefig(file, format=kind, **options)
    return file.getvalue()


def trim(ax: Any) -> None:
    """Hide the upper and the right border."""
    ax.spines[["top", "right"]].set_visible(False)
