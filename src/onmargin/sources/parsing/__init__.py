"""Compiled parsers over bytes, with a fingerprint of their own."""
