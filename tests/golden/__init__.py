"""Learners in mid-stream, one file a family, as they were written when the format was made.

`files/NAME.onm` is a learner that has seen the first rows of a small stream. `expected.npz` has that stream,
and of every file its arrays, what can be said of the learner, and its answers after the rest of the stream.
`tests/protocols/test_golden.py` holds today's code to all of it.

`python -m tests.golden` writes everything anew, as plain Python, the same bytes for the same tree. Run it
only where the format, or a learner's formula, is changed on purpose, and say so in the CHANGELOG: users
have such files. A new learner needs an entry in `families.FAMILIES`, and then the files of the others must
come out as they are.
"""
