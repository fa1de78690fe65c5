"""Learners that see little: they ask for labels, or play actions for rewards."""
