"""The mean of the hypotheses that predicted, as the weights to go on from."""

from __future__ import annotations

from .weights import Model


def take_mean(model: Model) -> None:
    """End with the mean as the weights, and without its sum, where any weights may be gone on from.

    Where they may not (`weights` follow from other sums) both stay, until a stream goes on.
    """
    if model.start.average and model.row.space.starts_anywhere:
        mean = model.mean_weights()
        drop_mean(model)
        model.write_all(mean)


def drop_mean(model: Model) -> None:
    """Go on without a mean."""
    if model.start.average:
        model.start = model.start._replace(average=False)
        model.begin_mean()


def average_anew(model: Model) -> None:
    """Keep a mean from now on, as if the weights had always been these; see `take_mean`."""
    if not model.start.average and model.row.space.starts_anywhere:
        model.start = model.start._replace(average=True)
        model.begin_mean()
