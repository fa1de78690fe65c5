"""How labels arrive."""
