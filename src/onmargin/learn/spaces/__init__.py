"""Where does w live? How do we score, measure and move? One Space per file.

score(space, rows, now, hyper, scores) fills the scores and leaves in `space.notes[0]` a number
that is finite exactly when the row can be learned from; size(space, rows, now, pull, hyper) is
|z|^2 as the Space measures it; move(space, rows, now, pull, step, margin, hyper) goes there and
returns the step taken.
"""
