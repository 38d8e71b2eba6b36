"""The Abacus as a target of Lathe, and a pass that helps it."""
