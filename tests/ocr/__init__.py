"""Real networks with sizes that are known only at run time: the three of an OCR package."""
