"""The same learners on Dask: partition, learn, merge, with the price of going parallel shown.

    from distributed import Client
    import onmargin as om

    client = Client("tcp://scheduler:8786")
    model = om.cluster.fit(om.Perceptron(), "rows/*.svm", epochs=5)
    answers = om.cluster.predict(model, dask_array).compute()

What there is:

    run(estimator, data, *, client=None, epochs=5, mixing="uniform", mix_every=None, target=None,
        classes=None, rows=8192, shuffle=None, sample=20_000, checkpoint=None, resume=False,
        on_error="stop", tell=None, **options) -> Run        # .model (fitted), .report (Report)
    fit(...)     -> run(..., sample=0).model
    predict(model, data, *, target=None, method="predict", **options)   lazily, partition by partition
    sweep(model, grid, data, *, client=None, target=None, scored_by="running", scoring=None, **options)

`options` are those of `onmargin.sources.split` (format=, parts=, bytes_per_part=, ...) where data are paths.
`tell(moment)` is called from the client's thread with a `Moment`: epoch (from 1), epochs, done and partitions
(of this epoch), and line, an `Epoch` of the report once an epoch is over (None before).
"""

from __future__ import annotations

from ..errors import extra

try:
    import distributed  # noqa: F401 (asked for here, so that one line says what is missing)
except ImportError:
    raise extra("dask and distributed", "dask") from None

from .epochs import Run, fit, run
from .predicting import predict
from .report import Epoch, Line, Moment, Report
from .sweeping import sweep

__all__ = ["Epoch", "Line", "Moment", "Report", "Run", "fit", "predict", "run", "sweep"]
