"""Compiling, linking, inspecting and packing: everything that runs a tool on generated sources."""
