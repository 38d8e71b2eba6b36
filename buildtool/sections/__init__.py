"""Mappings of YAML files: which keys they have, how each value is read, which errors wrong ones give."""
