"""C from the definitions of operators: the NumPy reference is traced, and its expressions become loops."""
