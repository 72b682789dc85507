"""Speed and scale, as ratios from one run on one machine."""
