"""What do we answer, and what does a round demand? One kind of target per file."""
