"""One example at a time, as a dict: streams in place, the short way, and the way back."""
