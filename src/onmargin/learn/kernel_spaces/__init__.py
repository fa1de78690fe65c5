"""Spaces that are spelled in vectors: w = sum_i coefficient_i phi(x_i)."""
