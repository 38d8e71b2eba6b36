"""How a graph becomes better: one rewrite per file, run and checked by the pipeline."""
