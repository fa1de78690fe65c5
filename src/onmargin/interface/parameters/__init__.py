"""Parameters: fields with limits, numbers left to the data, priors, draws, others' names."""
