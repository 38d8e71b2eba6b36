"""One handler per operator of the graph, or per family of them."""
