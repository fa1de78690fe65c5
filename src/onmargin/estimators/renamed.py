"""Parameter names of scikit-learn and River, answered with ours in one line."""

from __future__ import annotations

RENAMED = {
    "loss": "use step='pa1' (loss='hinge', 'epsilon_insensitive') or step='pa2' (loss='squared_hinge', "
    "'squared_epsilon_insensitive')",
    "mode": "use step='pa' (mode=0), step='pa1' (mode=1) or step='pa2' (mode=2)",
    "eps": "use epsilon=",
    "learn_intercept": "use fit_intercept=",
    "learning_rate": "use step='pa1' or step='pa2'",
    "eta0": "use C= (Passive-Aggressive) or rate= (Perceptron)",
    "n_jobs": "several classes are learned natively in one loop; leave it out",
    "early_stopping": "passes stop by tol= and n_iter_no_change=; leave it out",
    "validation_fraction": "passes stop by tol= and n_iter_no_change=; leave it out",
    "penalty": "margin learners regularise by their step; leave it out",
    "alpha": "margin learners regularise by their step; leave it out",
    "seed": "use random_state=",
    "n_iter": "use max_iter=",
    "beta": "use a= (second-order Perceptron) or r= (AROW)",
    "eta": "use confidence= (CW, SCW) or rate= (Perceptron)",
    "multi_class": "several classes are learned natively; leave it out",
    "kernel": "kernel forms are not part of this class yet; leave it out",
}
