"""Learners with two faces: scikit-learn's tables and River's dicts."""
