"""One run = dataset x protocol x method x seeds: the loop, its checkpoints and its record."""
