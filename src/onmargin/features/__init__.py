"""Examples as rows: tables of numbers, names of features as slots."""
