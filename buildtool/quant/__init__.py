"""Between which numbers tensors lie, and how they are stored in a few bits then."""
