"""The C sources of a network, and the projects around them."""
