"""People who label: the queue of what is asked, files of it, and doors for other tools."""
