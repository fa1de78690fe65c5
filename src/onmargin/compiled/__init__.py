"""The ground floor: how rows look to machine code. Knows nothing of learning."""
