"""The graph: dimensions, text form, verifier, evaluator."""
