"""Reads `.nb` files."""

from __future__ import annotations

from buildtool.errors import Where
from buildtool.importers.paddle.program import Program
from buildtool.ir.operator import Array


def is_one(data: bytes) -> bool:
    return False


def read_program(data: bytes, where: Where) -> tuple[Program, dict[str, Array]]:
    raise NotImplementedError
