"""What is durable: the journal, snapshots and predictions, the thread that writes, and the replay."""
