"""Documentation and the scripts that draw its figures."""
