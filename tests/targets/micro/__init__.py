"""Tests of the target for microcontrollers."""
