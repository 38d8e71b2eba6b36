"""What stops the export of one node. The driver collects these, to report all of a model at once."""

from __future__ import annotations


class NotExportableError(Exception):
    """The node has no counterpart in ONNX; the text says why."""
