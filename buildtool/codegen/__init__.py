"""What a target's sources look like. Functions from data to `{path: bytes}`: no decisions, no files written."""
