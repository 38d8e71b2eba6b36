"""Training for the MAX78000 and MAX78002: networks whose quantised arithmetic is that of the chips.

`rules` and `policies` need NumPy only. Everything else needs torch, which the extra `train` installs.
"""
