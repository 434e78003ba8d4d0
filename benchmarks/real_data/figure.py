"""Histograms of the probability integral transform, one for each model."""

from __future__ import annotations

from io import BytesIO
from textwrap import fill

import numpy as np
from page import ALPHA, Judged
from scipy import stats

_N_BINS, _N_COLUMNS = 10, 6
_COLOURS = {"missed": "#d62728", "rejected": "#e8a33d", "not rejected": "#4c78a8"}


def histograms(judged: list[Judged]) -> bytes:
    """Return a PNG; nineteen bars in twenty of calibrated predictions end between the dotted lines."""
    from matplotlib.figure import Figure

    n_rows = -(-len(judged) // _N_COLUMNS)
    figure = Figure(figsize=(2.1 * _N_COLUMNS, 1.75 * n_rows + 0.4), layout="constrained")
    panels = figure.subplots(n_rows, _N_COLUMNS, squeeze=False).ravel()
    for panel, each in zip(panels, judged, strict=False):
        _panel(panel, each)
    for panel in panels[len(judged) :]:
        panel.set_axis_off()
    handles = [panels[0].bar([0.5], [0.0], color=colour, label=label) for label, colour in _COLOURS.items()]
    figure.legend(handles=handles, loc="outside upper center", ncols=3, frameon=False, fontsize=9)
    file = BytesIO()
    figure.savefig(file, format="png", dpi=80, metadata={"Software": None})
    return file.getvalue()


def _panel(panel, each: Judged) -> None:
    u = stats.norm.cdf(each.z.ravel())
    counts, edges = np.histogram(u, _N_BINS, (0.0, 1.0))
    band = np.array(stats.binom(len(u), 1.0 / _N_BINS).interval(0.95)) * _N_BINS / len(u)
    verdict = "missed" if each.missed else "rejected" if each.result.rejects(ALPHA) else "not rejected"
    panel.bar(edges[:-1], counts * _N_BINS / len(u), 1.0 / _N_BINS, align="edge", color=_COLOURS[verdict])
    for edge in band:
        panel.axhline(edge, color="black", linewidth=0.7, linestyle=":")
    panel.set(xlim=(0, 1), ylim=(0, max(3.0, 1.05 * counts.max() * _N_BINS / len(u))), xticks=[], yticks=[])
    panel.set_title(f"{fill(each.case.data, 30)}\n{fill(each.case.model, 30)}", fontsize=7)
