"""Registers, images of the memories, and the C program that a chip runs."""
