"""Writes optimised graphs as models of other frameworks."""
