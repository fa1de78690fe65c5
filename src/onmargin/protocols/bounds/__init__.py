"""Both sides of the theorems' bounds, family by family, from a run and a comparator."""
