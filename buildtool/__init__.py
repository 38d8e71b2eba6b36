"""Lathe: turns models into native libraries that hold exactly what the models need."""
