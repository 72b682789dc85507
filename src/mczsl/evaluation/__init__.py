"""Metrics (pure functions), testing after each task, and calibration."""
