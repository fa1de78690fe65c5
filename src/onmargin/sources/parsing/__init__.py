"""Loops over the bytes of files. Their machine code has a fingerprint of its own."""
