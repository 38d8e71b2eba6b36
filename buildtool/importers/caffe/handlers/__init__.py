"""Handlers, by what the layers do."""
