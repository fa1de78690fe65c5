"""What a run came to: its trace, its curves, its figures, its file."""
