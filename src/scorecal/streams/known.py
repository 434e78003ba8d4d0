"""The dataclasses that files of sums may hold."""

from ..coordinates.average import MomentSums
from ..coverage import LevelCounts
from ..diagnosis.extremes import FarSums
from ..diagnosis.sums import HalfSums, InfluenceSums, ResidualSums
from ..resampling.feature_sums import FeatureSums
from ..views.context import FrameSums
from ..views.sample import RowSample
from ..views.second_moments import TraceSums
from .first import FirstSums
from .forms import FormNotes
from .rows import KeptRows, RowsOfStream
from .second import FarRows, SecondSums

_OF_FIRST = (FirstSums, FormNotes, FrameSums, HalfSums, KeptRows, MomentSums, ResidualSums, RowSample, RowsOfStream)
_OF_SECOND = (FarRows, FarSums, FeatureSums, InfluenceSums, LevelCounts, SecondSums, TraceSums)
KNOWN = {kind.__name__: kind for kind in (*_OF_FIRST, *_OF_SECOND)}
