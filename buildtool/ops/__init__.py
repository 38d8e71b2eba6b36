"""All operators, one per file. `registry()` finds them by looking into this folder and those of the user."""
