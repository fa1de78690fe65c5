"""What a sweep came to: rows, table, the best and its learner, the figure."""

from __future__ import annotations

import matplotlib
import numpy as np
import pytest

import onmargin as om
from onmargin.errors import BadInput

matplotlib.use("Agg")

DRAW = np.random.default_rng(4)
X = DRAW.normal(size=(150, 6))
SCORES = X @ DRAW.normal(size=6) + 0.3 + 0.7 * DRAW.normal(size=150)
Y = (SCORES > 0).astype(int)


def test_rows_table_and_the_best():
    grid = {"C": [0.001, 0.01, 0.1, 1.0], "step": ["pa1", "pa2"]}
    result = om.sweep(om.PassiveAggressiveClassifier(), grid, X, Y)
    table = result.table
    assert list(table["C"]) == [row["C"] for row in result.rows] and len(table) == 8
    assert {"C", "step", "error_rate", "mean_loss", "mistakes", "updates", "rounds"} == set(table.columns)
    best = result.rows[result.best_index]
    assert best["error_rate"] == table["error_rate"].min()
    assert result.best_params == {"C": best["C"], "step": best["step"]}
    assert result.best_model.C == best["C"] and result.best_model.t_ == 150
    assert f"{best['error_rate']:.4f}" in repr(result) and "8 configurations" in repr(result)
    numbers = om.sweep(om.PassiveAggressiveRegressor(), {"C": [0.001, 0.1, 10.0]}, X, SCORES)
    assert numbers.rows[numbers.best_index]["mae"] == numbers.table["mae"].min()
    for wrong in (-1, 8):
        with pytest.raises(BadInput, match="no configuration"):
            result.model(wrong)


def test_ties_go_to_the_smaller_loss_and_then_to_the_first():
    """The rate of a Perceptron that starts at 0 changes no prediction and no loss."""
    assert om.sweep(om.Perceptron(), {"rate": [2.0, 0.5, 1.0]}, X, Y).best_params == {"rate": 2.0}
    easy, signs = np.eye(2)[[0, 1] * 20], np.array([0, 1] * 20)
    result = om.sweep(om.PassiveAggressiveClassifier(), {"C": [0.01, 1.0, 0.1]}, easy, signs)
    assert len({row["mistakes"] for row in result.rows}) == 1 and result.best_params == {"C": 1.0}


def test_what_diverges_does_not_win_and_does_not_stop_the_others():
    model = om.FTRLClassifier(loss="exponential", regularizer="l2")
    result = om.sweep(model, {"rate": [1e300, 1e-3, 1e-2, 1e100]}, X, Y)
    assert result.in_lanes == 4 and result.best_params["rate"] in (1e-3, 1e-2)
    assert [np.isnan(row["error_rate"]) for row in result.rows] == [True, False, False, True]
    calm = om.sweep(model, {"rate": [1e-3, 1e-2]}, X, Y)
    assert calm.rows == result.rows[1:3]
    alone = om.sweep(
        om.FTRLClassifier(loss="exponential", regularizer="adagrad"), {"rate": [1e300, 1e-3]}, X, Y
    )
    assert alone.in_lanes == 0 and alone.best_params == {"rate": 1e-3}
    assert np.isnan(om.sweep(model, {"rate": [1e300]}, X, Y).rows[0]["error_rate"])


@pytest.mark.parametrize(
    "grid, names",
    [({"C": [0.01, 0.1, 1.0]}, 0), ({"C": [0.01, 0.1, 1.0], "margin": [0.5, 1.0]}, 2),
     ({"C": [0.01, 0.1], "step": ["pa1", "pa2"], "average": [True, False]}, 4), 
     ({"step": ["pa1", "pa2"]}, 0)],
    ids=["one parameter", "two", "three", "text"],
)  # fmt: skip
def test_the_figure_has_a_line_for_each_of_the_others(grid, names):
    result = om.sweep(om.PassiveAggressiveClassifier(), grid, X, Y)
    figure = result.plot()
    (axes,) = figure.axes
    *lines, mark = axes.get_lines()
    assert len(lines) == max(names, 1) and len(axes.texts) == names
    drawn = sorted(value for line in lines for value in line.get_ydata())
    assert drawn == sorted(row["error_rate"] for row in result.rows)
    assert mark.get_ydata() == [result.rows[result.best_index]["error_rate"]]
    assert axes.get_xlabel() in grid and "best" in axes.get_title(loc="left")
    figure.canvas.draw()
    matplotlib.pyplot.close(figure)
    other, given_axes = matplotlib.pyplot.subplots()
    assert result.plot(ax=given_axes) is other
    matplotlib.pyplot.close(other)


def test_the_given_model_is_left_as_it_was():
    fresh = om.PassiveAggressiveClassifier()
    om.sweep(fresh, {"C": [0.1, 1.0]}, X, Y)
    assert repr(fresh) == repr(om.PassiveAggressiveClassifier()) and not hasattr(fresh, "classes_")
    fitted = om.PassiveAggressiveClassifier().partial_fit(X, Y, classes=[0, 1])
    before = fitted.coef_.copy()
    result = om.sweep(fitted, {"C": [0.1, 1.0]}, X, Y)
    np.testing.assert_array_equal(fitted.coef_, before)
    assert fitted.t_ == 150 and result.model(0).t_ == 150  # each starts from nothing
    one, two = result.model(1), result.model(1)
    one.partial_fit(X, Y)
    assert two.t_ == 150


def test_verbose_shows_how_far_it_is(capsys):
    om.sweep(om.PassiveAggressiveClassifier(), {"C": [0.1, 1.0]}, X, Y, verbose=1)
    shown = capsys.readouterr()
    assert shown.out == "" and "2 models" in shown.err and "100%" in shown.err
