"""Mappings of YAML files: which keys they have, how each value is read, what is told of wrong ones."""
