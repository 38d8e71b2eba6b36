"""What other interpreters run: each module computes with one framework, and knows nothing of Lathe.

`main.py` is started by a Python that has the framework. A module has the names of what it needs, `NEEDS`, the first of
which that is installed is handed to `compute`, together with what is asked for and the inputs in that order; it gives
the outputs in the order in which they are asked for. A module that has `prepare` gets the request before the framework
is loaded.
"""
