"""One handler per operator of Paddle. Every module of this folder is loaded; handlers register themselves."""
