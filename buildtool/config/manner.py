"""How problems of deployment and device files are worded."""

from __future__ import annotations

from pydantic import BaseModel

from buildtool.config.models import sections
from buildtool.sections.validate import Manner

_OTHER_WORDS = {
    "abis": "target_abis",
    "file": "model_file_path",
    "path": "model_file_path",
    "model_path": "model_file_path",
    "framework": "platform",
    "name": "library_name",
    "precision": "data_type",
    "sha256": "model_sha256_checksum",
    "inputs": "input_tensors",
    "outputs": "output_tensors",
    "device": "runtime",
}


def _belongs(root: type[BaseModel], owner: type[BaseModel] | None, word: str) -> str:
    model = sections().model.model_fields
    if owner is root and word in model and root is sections().deployment:
        return f"'{word}' belongs to a model, under 'models'"
    if owner in (sections().model, sections().subgraph) and word in root.model_fields:
        return f"'{word}' belongs to the top level of the file"
    if owner is sections().subgraph and word in model:
        return f"'{word}' belongs to the model"
    return ""


def _written(root: type[BaseModel]) -> str:
    return "`lathe init MODEL` writes such a file" if root is sections().deployment else ""


MANNER = Manner(
    other_words=_OTHER_WORDS,
    belongs=_belongs,
    entries="it contains the models by name",
    entry="model",
    all_keys="`lathe schema` lists all keys",
    written=_written,
)
