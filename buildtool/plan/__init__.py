"""Which kernel runs each node, and where each value lies in memory."""
