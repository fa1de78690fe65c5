"""What programs ask for by names and texts: data, learners, runs, sweeps, answers, and their records."""
