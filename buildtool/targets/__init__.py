"""What can run a model, one folder per kind of machine. Targets differ by data and never import each other."""
