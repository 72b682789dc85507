"""Results for people: plots and tables."""
