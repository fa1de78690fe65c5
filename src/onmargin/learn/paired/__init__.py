"""Rounds of several examples with one joint step: members, rules, draws, the loop."""
