"""The command line: parse, call, print. No logic that a library user could not call."""
