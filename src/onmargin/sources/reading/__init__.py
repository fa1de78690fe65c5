"""How files become rows: opened, read ahead, cut into lines, columns and targets."""
