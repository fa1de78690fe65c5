"""What is done with learners: test-then-train, sweeps, label plans, drift, merging, files."""
