"""Rewrites of the tree that leave each thing one spelling, before any key is read.

Overrides replace what the file says, a mapping of subgraphs becomes a list, runtimes in thresholds become lower case,
and keys without a value are taken out and reported.
"""

from __future__ import annotations

from collections.abc import Mapping as AnyMapping
from collections.abc import Sequence as AnySequence
from dataclasses import dataclass, field, replace

from buildtool.config.models import sections
from buildtool.errors import Problem, Where
from buildtool.wording import quoted
from buildtool.yaml_marks import Entry, Mapping, Node, Scalar, Sequence

Path = tuple[str | int, ...]
Override = str | int | AnySequence[str]

#: Keys of models that the command line may override, with their older names.
_OF_MODELS = {"runtime": "device"}


@dataclass
class Normalised:
    """The rewritten tree and what was noticed on the way."""

    root: Node
    problems: list[Problem] = field(default_factory=list)
    broken: set[Path] = field(default_factory=set)  # keys whose value was taken out
    names: dict[Path, str] = field(default_factory=dict)  # of subgraphs that were in a mapping


def normalise(root: Node, overrides: AnyMapping[str, Override]) -> Normalised:
    """Rewrites a whole deployment file; `overrides` maps top-level keys, and `runtime` of every model, to the values
    that win over the file's.
    """
    result = Normalised(root)
    tree = _without_nulls(root, (), result)
    if isinstance(tree, Mapping):
        of_models = {key: value for key, value in overrides.items() if key in _OF_MODELS}
        tree = _overridden(tree, {key: value for key, value in overrides.items() if key not in of_models})
        models = tree.get("models")
        if models and isinstance(models.value, Mapping):
            every = (replace(entry, value=_in_model(entry.value, of_models)) for entry in models.value.entries)
            entries = (_model(entry, ("models", entry.key), result) for entry in every)
            tree = _with(tree, replace(models, value=replace(models.value, entries=tuple(entries))))
    result.root = tree
    return result


def override_place(key: str) -> Where:
    """Where a value stands that came from the command line."""
    return Where(f"option --{key}")


def _overridden(root: Mapping, overrides: AnyMapping[str, Override]) -> Mapping:
    for key, value in overrides.items():
        where = override_place(key)
        node: Node
        if isinstance(value, str | int):
            node = Scalar(str(value), where, plain=False)
        else:
            node = Sequence(tuple(Scalar(str(item), where, plain=False) for item in value), where)
        root = _with(root, Entry(key, where, node))
        old_name = {"model_graph_format": "build_type", "model_data_format": "embed_model_data"}.get(key)
        root = replace(root, entries=tuple(entry for entry in root.entries if entry.key != old_name))
    return root


def _in_model(node: Node, overrides: AnyMapping[str, Override]) -> Node:
    """A model, or one of its subgraphs, with these values; its subgraphs inherit them."""
    if not isinstance(node, Mapping) or not overrides:
        return node
    dropped = {*overrides, *(_OF_MODELS[key] for key in overrides)}
    kept = (entry for entry in node.entries if entry.key not in dropped)
    node = replace(node, entries=tuple(replace(entry, value=_in_subgraphs(entry, dropped)) for entry in kept))
    return _overridden(node, overrides)


def _in_subgraphs(entry: Entry, dropped: set[str]) -> Node:
    """The subgraphs of a model without these keys; other values as they are."""

    def without(node: Node) -> Node:
        if not isinstance(node, Mapping):
            return node
        return replace(node, entries=tuple(inner for inner in node.entries if inner.key not in dropped))

    graphs = entry.value
    if entry.key != "subgraphs":
        return graphs
    if isinstance(graphs, Sequence):
        return replace(graphs, items=tuple(map(without, graphs.items)))
    if isinstance(graphs, Mapping):
        named = tuple(replace(inner, value=without(inner.value)) for inner in graphs.entries)
        return replace(graphs, entries=named)
    return graphs


def _with(mapping: Mapping, new: Entry) -> Mapping:
    if mapping.get(new.key) is None:
        return replace(mapping, entries=(*mapping.entries, new))
    entries = tuple(new if entry.key == new.key else entry for entry in mapping.entries)
    return replace(mapping, entries=entries)


def _without_nulls(node: Node, path: Path, result: Normalised) -> Node:
    if isinstance(node, Sequence):
        items = tuple(_without_nulls(item, (*path, index), result) for index, item in enumerate(node.items))
        return replace(node, items=items)
    if not isinstance(node, Mapping):
        return node
    kept = []
    for entry in node.entries:
        here = (*path, entry.key)
        if isinstance(entry.value, Scalar) and entry.value.is_null:
            result.broken.add(here)
            remedy = "write a value, or remove the line"
            result.problems.append(Problem(f"{quoted(entry.key)} has no value", entry.key_where, remedy=remedy))
        else:
            kept.append(replace(entry, value=_without_nulls(entry.value, here, result)))
    return replace(node, entries=tuple(kept))


def _model(entry: Entry, path: Path, result: Normalised) -> Entry:
    model = entry.value
    if not isinstance(model, Mapping):
        return entry
    model = _images(_thresholds(model, path, result))
    subgraphs = model.get("subgraphs")
    if subgraphs is None:
        return replace(entry, value=model)
    here = (*path, "subgraphs")
    graphs = _subgraph_list(subgraphs.value, here, result)
    if graphs is None:
        result.broken.add(here)
        model = replace(model, entries=tuple(other for other in model.entries if other.key != "subgraphs"))
    elif isinstance(graphs, Sequence):
        items = tuple(
            _images(_thresholds(item, (*here, index), result)) if isinstance(item, Mapping) else item
            for index, item in enumerate(graphs.items)
        )
        model = _with(model, replace(subgraphs, value=replace(graphs, items=items)))
    return replace(entry, value=model)


def _subgraph_list(node: Node, path: Path, result: Normalised) -> Node | None:
    """The subgraphs as a list; None where there is a mapping of keys instead of the list."""
    if not isinstance(node, Mapping):
        return node
    stray = next((entry for entry in node.entries if entry.key in sections().subgraph.model_fields), None)
    if stray is not None and not isinstance(stray.value, Mapping):
        rule = "'subgraphs' holds a list of subgraphs, or a mapping from names to subgraphs"
        remedy = f"begin the subgraph with a dash: - {stray.key}: ..."
        problem = Problem(f"{quoted(stray.key)} is directly in 'subgraphs'", stray.key_where, rule, remedy)
        result.problems.append(problem)
        return None
    result.names.update({(*path, index): entry.key for index, entry in enumerate(node.entries)})
    return Sequence(tuple(entry.value for entry in node.entries), node.where)


def _images(section: Mapping) -> Mapping:
    """A single mapping of `preprocess` as a list of one."""
    entry = section.get("preprocess")
    if entry is None or not isinstance(entry.value, Mapping):
        return section
    return _with(section, replace(entry, value=Sequence((entry.value,), entry.value.where)))


def _thresholds(section: Mapping, path: Path, result: Normalised) -> Mapping:
    entry = section.get("validation_threshold")
    if entry is None or not isinstance(entry.value, Mapping):
        return section
    kept: dict[str, Entry] = {}
    for runtime in entry.value.entries:
        word = {"hexagon": "dsp"}.get(runtime.key.lower(), runtime.key.lower())
        if word in kept:
            first = kept[word].key_where.line
            what = f"the threshold of {quoted(word)} is given twice; first in line {first}"
            result.problems.append(Problem(what, runtime.key_where))
        kept.setdefault(word, replace(runtime, key=word))
    return _with(section, replace(entry, value=replace(entry.value, entries=tuple(kept.values()))))
