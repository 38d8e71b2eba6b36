"""GPUs by OpenCL: which parts of a graph run there, and what that saves."""
