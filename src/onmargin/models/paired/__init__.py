"""Models of paired rounds: who is in a round, and what it moves."""
