"""Graphs as ONNX models: `export(graph)` gives the bytes of a file."""

from buildtool.exporters.onnx.export import Exported, ExportRequest, export, export_models

__all__ = ["ExportRequest", "Exported", "export", "export_models"]
