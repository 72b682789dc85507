"""Grids of runs, and the search for settings."""
