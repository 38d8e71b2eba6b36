"""Cases of the kernels of floats that hypothesis draws, and how far kernels are off on them."""
