"""What a network computes on the chip, to the last bit, how long it takes, and where two runs part."""
