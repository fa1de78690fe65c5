"""Loops over bytes: hashes and tokens. Their machine code has a fingerprint of its own (`kept`)."""
