"""What users get without knobs: every default beside its peers' on all real sets (`make defaults`)."""
