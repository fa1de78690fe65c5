"""From a table to rounds: passes, their order, rounds given in advance, and runs that are watched."""
