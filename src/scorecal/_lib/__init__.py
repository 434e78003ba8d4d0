"""What every room uses: arrays of any backend, derivatives, special functions, checks of arguments, warnings."""
