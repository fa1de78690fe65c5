"""What a cluster costs: epochs of many sparse rows on one and two workers, and a model of their time."""
