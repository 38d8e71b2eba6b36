"""How a framework's file becomes a graph. One folder per framework; nothing of a framework leaves its folder."""
