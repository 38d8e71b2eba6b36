"""Is the library right? Feeds the same inputs to the library and to a reference and compares the outputs."""
