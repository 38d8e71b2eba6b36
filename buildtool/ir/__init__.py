"""The typed graph that every stage between importers and code generation works on."""
