"""What every estimator shares, as objects it holds: parameters, columns, targets, passes, dicts."""
