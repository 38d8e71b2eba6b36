"""One handler per TFLite operator. Every module of this folder is loaded; handlers register by their decorator."""
