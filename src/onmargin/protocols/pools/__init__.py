"""Few labels: a pool and who labels it, which rows are worth a label, when to stop, plans of labels."""
