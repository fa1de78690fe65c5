"""A row at work: arrays, clock, growth, files. Plain Python: an edit here recompiles nothing."""
