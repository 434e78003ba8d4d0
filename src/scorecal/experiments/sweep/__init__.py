"""Many tests on many data sets, with results on disk."""
