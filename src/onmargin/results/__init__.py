"""What a run came to: its trace, its curves, its measures, its figures."""
