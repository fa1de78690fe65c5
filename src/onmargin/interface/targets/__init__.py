"""What y is to a learner: labels, sets of them, numbers, points; to the loop and back."""
