"""A learner that is always on: durable journal, HTTP, a live dashboard and a page for labelling.

Everything stands on one object, `service.Service(place, settings)`; routes (`app`) and pages are thin shells
around it. `place` is a folder; its journal is SQLite, or PostgreSQL by `Settings.journal`. Its contract:

* Every thread may call everything. What is given and what comes back is plain: what JSON can say.
* Refusals are `OnmarginError`s of one line; those of `refusals` know their HTTP status. Whatever is refused
  has changed nothing; but for `NotApplied`, which says that it is durable and will be applied.
* `create(name, spec)`: a model by a name of `onmargin algorithms` and its parameters
  (`{"algorithm": "pa1", "C": 0.1}`), durable when it returns. `task` ("classes", "numbers", "sets",
  "points"; by default the first that the algorithm has), `text` (true, or the parameters of
  `om.features.Text`: examples are texts) and `ask` (`{"rule": "bernoulli" | "margin" | "random" | "always",
  "delta": 1.0}`) may stand beside them. `names()`, `state(name)`.
* `predict(name, examples)`: a list of `{"x": {...}}`, `{"x": [...]}` or `{"text": "..."}`; a list of
  `{"id", "label", "scores", "wanted"}`, at once, from a model that existed at some round. Nothing is durable
  when it returns: an id may be lost in a crash, and is then not found.
* `learn(name, examples)`: the same with `y`, and perhaps `key` (the same key counts once) and `w` (a weight).
  All are taken or none. A `concurrent.futures.Future` (in a coroutine: `asyncio.wrap_future`) of
  `{"events": [...], "rounds": n, "counted": n, "refused": {...}}`, which is done when they are durable *and*
  applied, in that order. `events` has the number of each example in the journal (of a key that was known: its
  first one), `refused` why the model could not take one in, by its place.
* `feedback(name, id, y)`: a late label for a prediction; a Future as of `learn`. One label counts for an id.
* `undo(name, event)`: the model as if that example had never been; a Future of the state. It is an event.
* `history(name, since=0)`: points after that round, thinned where they are many; `queries` and `drifts` too.
* `snapshot(name, round=None)`: bytes of the `.onm` file as of a round of the history as it now stands.
* `confusion(name)`, `top_features(name, k=10)`, `health()`, `close()`.
"""
