"""om.save and om.load: the file, what may stand in it, and files replaced in one step."""
