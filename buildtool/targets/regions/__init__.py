"""Parts of graphs for devices: which nodes they run, and how those become regions."""
