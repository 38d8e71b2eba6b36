"""The Kendryte K210: its kmodel files (version 3), read, written and simulated to the last bit.

No `TARGET` yet: nothing can be built for this chip until graphs are turned into kmodels.
"""
