"""Optimised graphs with ranges become kmodels."""
