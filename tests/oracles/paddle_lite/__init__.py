"""Models that Paddle-Lite's own tool writes, from programs of the oracle `paddle`: a file for each release."""
