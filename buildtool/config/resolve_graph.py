"""Subgraphs: tensors with their shapes, types, formats and ranges, and what they are validated with."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from buildtool.config.context import Found, View
from buildtool.config.deployment import ShapeConfig, SubgraphConfig, TensorConfig, Thresholds
from buildtool.config.models import sections
from buildtool.config.preprocess import resolve_preprocess, with_frames
from buildtool.errors import Where
from buildtool.extensions.targets import words as target_words
from buildtool.sections.section import default_of
from buildtool.wording import counted, quoted

DEFAULT_RANGE = (-1.0, 1.0)
#: Of numbers that are stored ones, or pictures: all that there are. Those of 32 bits are often places or words.
WHOLE_RANGES = {"int8": (-128.0, 127.0), "uint8": (0.0, 255.0), "int16": (-32768.0, 32767.0)}
SPATIAL_RANK = 4


@dataclass(frozen=True)
class _Group:
    """A kind of tensors and the keys that describe it; an empty word where there is no such key."""

    names: str
    shapes: str
    types: str = ""
    formats: str = ""
    ranges: str = ""
    aliases: str = ""
    default_type: str = ""


INPUTS = _Group(
    *("input_tensors", "input_shapes", "input_data_types", "input_data_formats", "input_ranges", "input_aliases"),
    default_type="float32",
)
OUTPUTS = _Group(
    "output_tensors", "output_shapes", "output_data_types", "output_data_formats", aliases="output_aliases"
)
CHECKS = _Group("check_tensors", "check_shapes")


def resolve_subgraph(view: View) -> SubgraphConfig:
    """The subgraph that a view shows. What is wrong goes to the view's context."""
    described = view.find("platform").value in target_words().described
    inputs = _tensors(view, INPUTS, required=not described)
    outputs = _tensors(view, OUTPUTS, required=not described)
    checks = _tensors(view, CHECKS, required=False)
    data_key = "validation_inputs_data"
    if view.find("input_files").is_given:
        if view.find(data_key).is_given:
            what = f"'input_files' and '{data_key}' mean the same"
            view.context.refuse(what, view.where_of("input_files"), remedy="keep one of them")
        else:
            data_key = "input_files"
    _check_data_count(view, data_key, INPUTS)
    _check_data_count(view, "validation_outputs_data", OUTPUTS)
    images = resolve_preprocess(view, inputs)
    return SubgraphConfig(
        name=view.context.names.get(view.path, ""),
        inputs=with_frames(inputs, images),
        outputs=outputs,
        check_tensors=checks,
        images=images,
        validation_inputs_data=view.files(data_key),
        validation_outputs_data=view.files("validation_outputs_data"),
        accuracy_validation_script=view.files("accuracy_validation_script"),
        validation_threshold=_thresholds(view),
        backend=view.find("backend").value or "",
        where=view.where,
    )


def _tensors(view: View, group: _Group, *, required: bool) -> tuple[TensorConfig, ...]:
    names, shapes = view.find(group.names), view.find(group.shapes)
    for other, given in ((group.names, group.shapes), (group.shapes, group.names)):
        if required or view.find(given).is_given:
            view.require(other, remedy="`lathe init MODEL` writes the values of the model" if required else "")
    if names.value is None or shapes.value is None or view.is_broken(group.names, group.shapes):
        return ()
    count = len(names.value)
    if not count:
        if required:
            view.context.refuse(f"{quoted(group.names)} is empty", view.where_of(group.names))
        return ()
    _refuse_repeats(view, group.names)
    if len(shapes.value) != count:
        _refuse_shape_count(view, group, shapes.value, count)
        return ()
    types = _one_for_all(view, group.types, group.names, count)
    formats = _one_for_all(view, group.formats, group.names, count)
    ranges = _one_each(view, group.ranges, group.names, count)
    aliases = _one_each(view, group.aliases, group.names, count)
    if group.aliases:
        _refuse_repeats(view, group.aliases)
    return tuple(
        TensorConfig(
            name=name,
            shape=shape,
            data_type=types[index] or group.default_type,
            data_format=_format_of(view, group, index, shape, formats[index]),
            value_range=ranges[index] or WHOLE_RANGES.get(types[index], DEFAULT_RANGE),
            alias=aliases[index] or name,
            where=view.where_of(group.names, index),
            shape_where=view.where_of(group.shapes, index),
            format_where=_format_place(view, group, index),
        )
        for index, (name, shape) in enumerate(zip(names.value, shapes.value, strict=True))
    )


def _refuse_shape_count(view: View, group: _Group, shapes: list[ShapeConfig], count: int) -> None:
    what = f"{quoted(group.shapes)} holds {counted(len(shapes), 'shape')} for {counted(count, 'tensor')}"
    remedy = f"give one shape for each of {quoted(group.names)}"
    if count == 1 and all(len(shape) == 1 and isinstance(shape[0], int) for shape in shapes):
        remedy = f"write a shape as one word: {','.join(str(shape[0]) for shape in shapes)}"
    view.context.refuse(what, view.where_of(group.shapes), remedy=remedy)


def _refuse_repeats(view: View, key: str) -> None:
    seen: set[str] = set()
    for index, name in enumerate(view.find(key).value or []):
        if name in seen:
            view.context.refuse(f"{quoted(name)} is given twice in {quoted(key)}", view.where_of(key, index))
        seen.add(name)


def _given(view: View, key: str) -> Found:
    return Found(None) if not key or view.is_broken(key) else view.find(key)


def _one_for_all(view: View, key: str, names: str, count: int) -> list[Any]:
    """A value for each tensor from a key that holds one for each or one for all."""
    found = _given(view, key)
    if not found.is_given:
        return [None] * count
    values = found.value
    if len(values) == 1:
        return list(values) * count
    return _counted_values(view, key, names, count, values, "or one for all of them")


def _one_each(view: View, key: str, names: str, count: int) -> list[Any]:
    """A value for each tensor from a key that holds exactly one for each."""
    found = _given(view, key)
    return _counted_values(view, key, names, count, found.value, "") if found.is_given else [None] * count


def _counted_values(view: View, key: str, names: str, count: int, values: list[Any], choice: str) -> list[Any]:
    if len(values) == count:
        return values
    what = f"{quoted(key)} holds {counted(len(values), 'value')} for {counted(count, 'tensor')}"
    remedy = " ".join(filter(None, (f"give one value for each of {quoted(names)}", choice)))
    view.context.refuse(what, view.where_of(key), remedy=remedy)
    return [None] * count


def _format_of(view: View, group: _Group, index: int, shape: ShapeConfig, declared: str | None) -> str:
    if declared is None:
        return "NHWC" if len(shape) == SPATIAL_RANK else "NONE"
    if declared == "NONE" or len(shape) == SPATIAL_RANK:
        return declared
    # One value for all tensors may well be meant for some of them only; a value of its own is a misunderstanding.
    if len(view.find(group.formats).value) == len(view.find(group.names).value):
        view.context.note(
            f"the format {declared} does not apply to a tensor with {counted(len(shape), 'dimension')}",
            _format_place(view, group, index),
            rule="formats order four dimensions; other tensors keep the order of the model",
            remedy="write NONE",
        )
    return "NONE"


def _format_place(view: View, group: _Group, index: int) -> Where:
    if not group.formats or not view.find(group.formats).is_given:
        return view.where_of(group.names, index)
    return view.where_of(group.formats, index)


def _check_data_count(view: View, key: str, group: _Group) -> None:
    data, names = view.find(key).value, view.find(group.names).value
    if data is None or names is None or view.is_broken(key, group.names) or len(data) == len(names):
        return
    what = f"{quoted(key)} names {counted(len(data), 'file')} for {counted(len(names), 'tensor')}"
    view.context.refuse(what, view.where_of(key), remedy=f"give one file for each of {quoted(group.names)}")


def _thresholds(view: View) -> Thresholds:
    given = [section.validation_threshold for _, section in view.levels if section.validation_threshold is not None]
    kind = sections().thresholds
    usual = {runtime: default_of(kind, runtime) for runtime in kind.model_fields}
    if view.find("quantize_large_weights").value == "int4":
        usual |= {"cpu": 0.95, "gpu": 0.95}  # they lose more: it still tells them from models that compute otherwise
    found = {runtime: _first(getattr(section, runtime) for section in given) for runtime in usual}
    return Thresholds(tuple((runtime, usual[runtime] if value is None else value) for runtime, value in found.items()))


def _first(values: Iterable[float | None]) -> float | None:
    return next((value for value in values if value is not None), None)
