"""Pictures, each a function that returns the axes it drew on. They need matplotlib."""

from .contributions import plot_contributions
from .coverage import plot_coverage
from .estimates import plot_estimates
from .null import plot_null
from .reliability import plot_reliability
from .views import plot_views
from .witness import plot_witness

__all__ = [
    "plot_contributions",
    "plot_coverage",
    "plot_estimates",
    "plot_null",
    "plot_reliability",
    "plot_views",
    "plot_witness",
]
