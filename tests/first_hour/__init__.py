"""The first commands of a newcomer, `lathe init`, `check` and `build`, without an edit, on every model of the tests."""
