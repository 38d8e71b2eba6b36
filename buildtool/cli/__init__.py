"""What the user types. One file per command: it parses, calls the workflow and renders; nothing else.

The modules of this room import nothing heavy at their top, so that `lathe --help` answers at once.
"""
