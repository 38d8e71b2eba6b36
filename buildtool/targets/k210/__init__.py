"""The Kendryte K210: kmodel files (version 3), made of graphs, read, written and simulated to the last bit.

No `TARGET` yet: `lathe build` makes none of them.
"""
