"""One handler per layer class. Every module of this folder is loaded; handlers register by their decorator."""
