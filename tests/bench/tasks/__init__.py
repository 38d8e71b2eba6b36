"""Trained networks at their tasks, in every precision: what they get right, how large and how fast they are.

`python -m tests.bench.tasks [--task words] [--json FILE]` builds, calibrates, runs, and prints a table for each task.
"""
