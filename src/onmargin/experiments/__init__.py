"""The papers' experiments, each with what it must show: `onmargin reproduce NAME`.

A module is one experiment: `ANSWERS` (seed and figure), `PROTOCOL`, `DATA` (names of sets, () =
generated), `STAND_IN` (what stands in for what, and why), `SEEDS` and `QUICK` (repetitions), `SECONDS`
(about what its full run takes on one core; those that take long begin first), `run(seeds, quick=False)`,
which gives an `Outcome` (a table, curves, and claims that `check()` holds it to), and `figure(outcome)`
in the seed's own axes.
"""

from __future__ import annotations

# The order is that of the report.
NAMES = {
    "noise": "robustness to noise in instances and labels: PA, PA-I, PA-II, the best line (E1)",
    "bounds_over_c": "right-hand sides of P1, A2, A4, A6 over C for one comparator (E1b)",
    "aggressiveness": "the effect of C under noise after 100, 400, 4,000 rounds, beside the bounds (E2)",
    "multiclass": "USPS and MNIST: Perceptrons, MIRA, PA, PA-I, PA-II, linear and polynomial (E3)",
    "update_cost": "microseconds an update over the number of classes: PA-I, MIRA, Perceptrons (E3b)",
    "last_and_average": "the Perceptron: any order, and the last line beside the average (E4)",
    "many_kernels": "six views, and 4 of 20: OM-2 over p, PA-I, OMCL, SILP, with their times (E5, E5b)",
    "budgets": "error against vectors: Projectron, Projectron++, RBP, Forgetron; several classes (E6)",
    "circle": "BBQ on the unit circle: labels asked for, and how near the estimates are (E7)",
    "queries": "F1 against labels on Adult (RBF), RCV1 and texts: selective rules, BBQ, random (E8)",
    "active": "PA, active PA, kernel PA, kernel active PA beside an SVM on seven small sets (S4)",
    "pegasos": "Pegasos: gap over passes, rare classes, transfer, two moons (E9)",
    "personal_filter": "a spam filter for another's mail, with 10, 50, 200 labels (E9b)",
    "imbalance": "two classes, one in fifty: rules, thresholds, AUC (E10a)",
    "moderation": "how even the steps of paired rounds are beside PA-I's",
    "digits": "ten classes with induced imbalance: all-pairs and one-vs-all AUC (E10b)",
    "letor": "ranking by query on MQ2008, five folds (E10c)",
    "topics": "sets of labels on Reuters-21578 (E10d)",
    "keywords": "spotting rare words, one text in five hundred (E10e)",
    "feedback": "rewards in place of labels, and targets that move (E11)",
    "texts": "20 Newsgroups and Enron-spam in one pass",
    "prices": "Elec2 in time order: a stream that drifts",
    "numbers": "abalone and california: regression in one pass",
    "published": "the accuracies that SOL publishes for a1a and MNIST",
    "dogma": "the demonstration of DOGMA: kernels and budgets on a noisy line",
    "drawings": "the seeds' drawings, and the two animations of the talk",
}
