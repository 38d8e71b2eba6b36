"""ONNX's own conformance cases through importer, passes, the reference evaluator and the native runtime."""
