"""Finds operators: every module of this package, and of the folders a deployment file names in `op_paths`."""

from __future__ import annotations

import functools
import importlib
import importlib.util
import inspect
import pkgutil
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import ModuleType

from buildtool import ops
from buildtool.errors import ConfigError, Where
from buildtool.ir.operator import Operator


def _operators_of(module: ModuleType) -> Iterator[type[Operator]]:
    for _, item in inspect.getmembers(module, inspect.isclass):
        if issubclass(item, Operator) and item.__module__ == module.__name__ and item.name:
            yield item


@functools.cache
def builtin() -> Mapping[str, type[Operator]]:
    """The operators that come with Lathe, by name."""
    found: dict[str, type[Operator]] = {}
    for info in pkgutil.iter_modules(ops.__path__):
        module = importlib.import_module(f"{ops.__name__}.{info.name}")
        found.update((operator.name, operator) for operator in _operators_of(module))
    return found


def _load_user_module(file: Path) -> ModuleType:
    name = f"lathe_user_ops.{file.parent.parent.name}.{file.stem}"
    spec = importlib.util.spec_from_file_location(name, file)
    if spec is None or spec.loader is None:
        raise ConfigError("this file cannot be loaded as a Python module", where=Where(file=str(file)))
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # dataclasses look their module up
    writes_bytecode, sys.dont_write_bytecode = sys.dont_write_bytecode, True  # the folder is the user's
    try:
        spec.loader.exec_module(module)
    except Exception as problem:
        raise ConfigError(
            f"loading the operator failed: {type(problem).__name__}: {problem}",
            where=Where(file=str(file)),
            remedy="run the file with Python to see the full traceback",
        ) from problem
    finally:
        sys.dont_write_bytecode = writes_bytecode
    return module


def registry(op_paths: Sequence[Path] = ()) -> Mapping[str, type[Operator]]:
    """All operators by name; a user's operator must not take the name of a built-in one."""
    found = dict(builtin())
    for folder in op_paths:
        files = sorted((folder / "ops").glob("*.py"))
        if not files:
            raise ConfigError(
                "no operator found",
                where=Where(file=str(folder)),
                rule="op_paths names folders that hold ops/<op>.py and native/ops/<op>/",
                remedy="create one with: lathe dev new-op NAME --path FOLDER",
            )
        for file in files:
            for operator in _operators_of(_load_user_module(file)):
                if operator.name in found:
                    raise ConfigError(
                        f"the operator '{operator.name}' already exists",
                        where=Where(file=str(file)),
                        remedy="rename it",
                    )
                found[operator.name] = operator
    return found
