"""Predictions from models and distributions of other libraries, one module for each library."""
