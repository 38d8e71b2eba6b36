"""What installed packages add to Lathe: targets and passes, found through Python's entry points."""
