"""A model of a library for this machine, loaded into this process."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy.typing as npt

from buildtool.errors import RunError, Where
from buildtool.runtime import (
    NO_WISHES,
    Array,
    DeviceInfo,
    DeviceOptions,
    Engine,
    Library,
    MemoryInfo,
    Session,
    TensorInfo,
)


class LoadedModel:
    """Runs NumPy arrays. A context; closed or dropped, it gives its memory back."""

    def __init__(
        self,
        library: Path,
        model: str | None = None,
        *,
        identifier: str | None = None,
        models: Path | None = None,
        threads: int = 0,
        keep_all: bool = False,
        device: DeviceOptions = NO_WISHES,
    ) -> None:
        """`models`: the folder of `<model>.pb` and `<model>.data`; what is not there is taken from the library.

        Without `model` the library has one model only. `threads`: 0 means one per core. `keep_all`: every inner value
        can be read after a run.
        """
        loaded = Library(library, identifier)
        self.name = model or _only_model(loaded, models)
        files = {suffix: models / f"{self.name}{suffix}" for suffix in (".pb", ".data")} if models else {}
        present = {suffix: file for suffix, file in files.items() if file.is_file()}
        inside = self.name in loaded.models
        engine = loaded.engine(
            model=None if inside else present.get(".pb"),
            data=present.get(".data"),  # a library that holds the weights has no such file beside it
            model_name=self.name if inside else None,
            threads=threads,
            device=device,
        )
        self._engine: Engine | None = engine
        self._session: Session | None = engine.session(keep_all=keep_all)

    @property
    def inputs(self) -> tuple[TensorInfo, ...]:
        return self._open().inputs

    @property
    def outputs(self) -> tuple[TensorInfo, ...]:
        return self._open().outputs

    @property
    def device_info(self) -> DeviceInfo:
        """What runs the parts of the model that were built for a GPU."""
        self._open()
        assert self._engine is not None
        return self._engine.device_info

    @property
    def memory(self) -> MemoryInfo:
        return self._open().memory

    def run(self, inputs: Mapping[str, npt.ArrayLike], *, copy: bool = True) -> dict[str, Array]:
        """All outputs by name, for all inputs by name: see `Session.run`. Threads that call it take turns."""
        return self._open().run(inputs, copy=copy)

    def run_image(self, image: Array, pixels: str = "rgb", **options: Any) -> dict[str, Array]:
        """All outputs for an image, which fills an input as `preprocess` says: see `Session.run_image`."""
        return self._open().run_image(image, pixels, **options)

    def session(self, *, keep_all: bool = False) -> Session:
        """Memory for runs beside those of this object: one for each thread that shall not wait for the others."""
        self._open()
        assert self._engine is not None
        return self._engine.session(keep_all=keep_all)

    def value(self, name: str) -> Array:
        """A value of the last run by its name. Inner ones need `keep_all`."""
        return self._open().value(name)

    def close(self) -> None:
        self._session = None
        self._engine = None

    def __enter__(self) -> LoadedModel:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _open(self) -> Session:
        if self._session is None:
            raise RunError(f"the model '{self.name}' is closed")
        return self._session


def _only_model(library: Library, models: Path | None) -> str:
    """The name of the one model; RunError where there are several."""
    names = list(library.models) or (sorted(file.stem for file in models.glob("*.pb")) if models else [])
    if len(names) == 1:
        return names[0]
    raise RunError(
        f"the library has {len(names)} models: {', '.join(names)}" if names else "no model of the library was found",
        where=Where(file=str(library.path)),
        remedy="choose one: load(..., model=NAME)",
    )


def load_library(
    library: Path,
    model: str | None = None,
    threads: int = 0,
    *,
    identifier: str | None = None,
    keep_all: bool = False,
    device: DeviceOptions = NO_WISHES,
) -> LoadedModel:
    """A model of a library in the folder that a build made; models are looked for there, as far as it holds none.

    `identifier`: the library's, where the file is called by another name.
    """
    folder = library.resolve().parent
    models = folder.parents[1] / "model" / folder.name
    models_there = models if models.is_dir() else None
    return LoadedModel(
        library,
        model,
        identifier=identifier,
        models=models_there,
        threads=threads,
        keep_all=keep_all,
        device=device,
    )
