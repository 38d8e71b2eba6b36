"""Models that run: their inputs, the references that they are compared with, and libraries on devices.

Shared by run, bench and validate.
"""
