"""Random models of frameworks that Lathe imports, built and compared with their frameworks: `make strangers`."""
