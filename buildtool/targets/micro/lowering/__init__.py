"""From the graph of a quantised model to the layers of a network."""
