"""One file per operator with at least 20 cases: `cases(rng)` yields `OpCase`s. `tests.ops.case` collects them."""
