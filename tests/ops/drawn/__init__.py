"""Cases of the single-precision kernels that hypothesis draws, and how far kernels are off on them."""
