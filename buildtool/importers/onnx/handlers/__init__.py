"""One handler per ONNX operator. Every module of this folder is loaded; a handler registers itself by its decorator."""
