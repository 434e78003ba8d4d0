"""Tools for all packages: arrays of any backend, derivatives, special functions, checks of arguments, warnings."""
