"""The papers' experiments, each with what it must show: `python -m onmargin.experiments NAME`.

A module has `run(seeds)` (and `SEEDS`, how many it is made for), which gives an `Outcome`: a table, and
claims about it that `check()` holds it to.
"""

from __future__ import annotations

NAMES = {
    "imbalance": "two classes, one in fifty: rules, thresholds, AUC (E10a)",
    "moderation": "how even the steps of paired rounds are beside PA-I's",
    "digits": "ten classes with induced imbalance: all-pairs and one-vs-all AUC (E10b)",
    "letor": "ranking by query on MQ2008, five folds (E10c)",
    "topics": "sets of labels on Reuters-21578 (E10d)",
    "keywords": "spotting rare words, one text in five hundred (E10e)",
    "circle": "BBQ on the unit circle: labels asked for, and how near the estimates are (E7)",
    "queries": "F1 against labels on Adult (RBF) and on texts: selective rules, BBQ, random (E8)",
    "active": "PA, active PA, kernel PA, kernel active PA beside an SVM on seven small sets (S4)",
    "feedback": "rewards in place of labels, and targets that move (E11)",
}
