"""The variables of a SavedModel: a table of what there is, and files with the elements."""

from __future__ import annotations

from pathlib import Path

from google.protobuf.message import DecodeError

from buildtool.errors import ModelFileError, UnsupportedError, Where
from buildtool.importers.files import read_bytes
from buildtool.importers.tensorflow.table import read_table
from buildtool.importers.tensorflow.tensors import DAMAGED, from_bytes, static_shape
from buildtool.ir.operator import Array
from buildtool.schemas import tensorflow_graph_pb2 as pb

_MOST_SHARDS = 10**5 - 1  # what the names of the files have room for


class Variables:
    """What lies in the folder `variables` of a SavedModel. An absent folder is an empty one."""

    def __init__(self, folder: Path, where: Where) -> None:
        self._prefix = folder / "variables"
        self._where = where
        self._entries: dict[str, bytes] = {}
        self._shards = 0
        index = folder / "variables.index"
        if not index.is_file():
            return
        table = read_table(read_bytes(index, where, "save fewer variables", DAMAGED), where)
        header = pb.BundleHeader()
        _parse(header, table.pop(b"", b""), where)
        if header.endianness:
            raise UnsupportedError("the variables are stored with the highest byte first", where=where)
        if not 0 < header.num_shards <= _MOST_SHARDS:
            raise ModelFileError(f"the variables are in {header.num_shards} files", where=where, remedy=DAMAGED)
        self._shards = header.num_shards
        self._entries = {key.decode("utf-8", "replace"): value for key, value in table.items()}

    def __contains__(self, key: str) -> bool:
        return key in self._entries

    def read(self, key: str, node: str) -> Array:
        """The content of a variable."""
        where = Where(self._where.file, model=self._where.model, node=node)
        if key not in self._entries:
            raise ModelFileError(
                f"the variable '{key}' is not stored in the model",
                where=where,
                remedy="the folder 'variables' beside saved_model.pb belongs to the model: copy it too",
            )
        entry = pb.BundleEntry()
        _parse(entry, self._entries[key], where)
        shape = static_shape(entry.shape, where)
        array = from_bytes(entry.dtype, self._bytes(entry, where), shape, where)
        array.setflags(write=False)
        return array

    def _bytes(self, entry: pb.BundleEntry, where: Where) -> bytes:
        if not 0 <= entry.shard_id < self._shards:
            raise ModelFileError(f"there is no file {entry.shard_id} of variables", where=where, remedy=DAMAGED)
        file = self._prefix.with_name(f"variables.data-{entry.shard_id:05}-of-{self._shards:05}")
        try:
            if entry.offset < 0 or entry.size < 0 or entry.offset + entry.size > file.stat().st_size:
                raise ModelFileError(
                    f"bytes {entry.offset} to {entry.offset + entry.size} of '{file.name}' are not there",
                    where=where,
                    remedy=DAMAGED,
                )
            with file.open("rb") as opened:
                opened.seek(entry.offset)
                return opened.read(entry.size)
        except OSError as problem:
            raise ModelFileError(
                f"'{file.name}' cannot be read: {problem.strerror}",
                where=where,
                remedy="the folder 'variables' beside saved_model.pb belongs to the model: copy it too",
            ) from problem


def _parse(message: pb.BundleHeader | pb.BundleEntry, data: bytes, where: Where) -> None:
    try:
        message.ParseFromString(data)
    except DecodeError as problem:
        raise ModelFileError("an entry of the list of variables is damaged", where=where, remedy=DAMAGED) from problem
