"""From the sections of a file to a Deployment: inheritance, defaults, and the rules between keys."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from buildtool.config.context import Context, Found, KeyPath, View
from buildtool.config.deployment import (
    Deployment,
    FileRef,
    HexagonConfig,
    ModelConfig,
    OpenclConfig,
    QuantizeConfig,
)
from buildtool.config.models import DeploymentSection, FrontendSection, GraphSection, MicroSection, ModelSection
from buildtool.config.names import (
    IDENTIFIER,
    MAX_NAME_LENGTH,
    file_name_for,
    identifier_for,
    is_file_name,
)
from buildtool.config.resolve_graph import resolve_subgraph
from buildtool.errors import Where
from buildtool.extensions.targets import words
from buildtool.runtimes import Runtime
from buildtool.sections.readers import PATH
from buildtool.sections.section import default_of, is_dead, reader_of
from buildtool.vision import FUNCTIONS, OF_INPUTS, InputImage, Vision
from buildtool.wording import quoted

# Each graph of a model has its own; every other key is the same for all subgraphs of a model.
_PER_GRAPH_PREFIXES = ("input_", "output_", "check_", "validation_")
_PER_GRAPH = frozenset(
    {"accuracy_validation_script", "backend", "order", "preprocess"}
    | {name for name in GraphSection.model_fields if name.startswith(_PER_GRAPH_PREFIXES)}
)
_MODEL_WIDE = tuple(
    name for name in GraphSection.model_fields if name not in _PER_GRAPH and not is_dead(GraphSection, name)
)
_NOWHERE = FileRef("")


def resolve(context: Context, section: DeploymentSection, path: Path) -> Deployment:
    """The deployment; only to be used if the context holds no problem afterwards."""
    top = _Top(context, section, path)
    models = tuple(
        _model(context, name, model) for name, model in section.models.items() if _has_usable_name(context, name)
    )
    _refuse_same_identifiers(context, models)
    graph_format, data_format = _formats(top)
    abis = _target_abis(top)
    return Deployment(
        path=path.absolute(),
        library_name=_library_name(top),
        target_abis=tuple(abis),
        models=models,
        target_socs=tuple(section.target_socs or ()),
        model_graph_format=graph_format,
        model_data_format=data_format,
        glibc_floor=section.glibc_floor or default_of(DeploymentSection, "glibc_floor"),
        android_api_level=top.value("android_api_level"),
        op_paths=_op_paths(top),
        messages=bool(top.value("messages")),
        isas=tuple(dict.fromkeys(section.isa or ())),
        hexagon=HexagonConfig(
            versions=tuple(dict.fromkeys(top.value("hexagon_versions"))),
            unsigned=bool(top.value("hexagon_unsigned")),
            power=top.value("hexagon_power"),
        ),
        vision=_vision(top, models, abis),
        mace_compat=top.value("mace_compat"),
        paddle_compat=top.value("paddle_compat"),
        core_binding=bool(top.value("core_binding")),
        all_ops=bool(top.value("all_ops")),
        where=Where(str(path)),
        marks=tuple((key, context.where((key,))) for key in DeploymentSection.model_fields if top.is_given(key)),
        abi_marks=tuple(abis.values()),
    )


class _Top:
    """The top level of the file."""

    def __init__(self, context: Context, section: DeploymentSection, path: Path) -> None:
        self.context = context
        self.path = path
        self.section = section

    def is_given(self, key: str) -> bool:
        return getattr(self.section, key) is not None

    def value(self, key: str) -> Any:
        value = getattr(self.section, key)
        return default_of(DeploymentSection, key) if value is None else value


def _vision(top: _Top, models: Sequence[ModelConfig], abis: Iterable[str]) -> Vision:
    """The functions for images, in their order, and the inputs that images fill."""
    named = set(top.section.vision or ())
    images = [each for model in models for graph in model.subgraphs for each in graph.images if each.frame is None]
    wanted = set(FUNCTIONS) if "all" in named else named
    if not images:
        for index, name in enumerate(top.section.vision or ()):
            if name in OF_INPUTS:
                where = top.context.where(("vision", index))
                top.context.refuse(f"{quoted(name)} needs an input with 'preprocess'", where)
        wanted -= set(OF_INPUTS)
    else:
        wanted |= {*OF_INPUTS, "boxes_back"}
    found: dict[str, InputImage] = {}
    chips = sorted({abi for known in words().chips.values() for abi in known}.intersection(abis))
    if chips and wanted:
        key = "preprocess" if images else "vision"
        where = images[0].where if images else top.context.where(("vision",))
        top.context.refuse(f"{quoted(key)} is for libraries, and {chips[0]} gets firmware", where, remedy="remove it")
    for each in images:
        if found.setdefault(each.image.input, each.image) != each.image:
            what = f"the inputs called {quoted(each.image.input)} of several models differ in 'preprocess'"
            top.context.refuse(what, each.where, remedy="give them names of their own with 'input_aliases'")
    return Vision(tuple(name for name in FUNCTIONS if name in wanted), tuple(found.values()))


def _library_name(top: _Top) -> str:
    name = top.section.library_name
    if name is None:
        return file_name_for(top.path.stem)
    if not is_file_name(name):
        top.context.refuse(
            f"'library_name' cannot be {quoted(name)}",
            top.context.where(("library_name",)),
            rule="it is used in file names: letters, digits and _ . + - only, beginning with a letter, a digit or _, "
            f"at most {MAX_NAME_LENGTH} characters",
            remedy=f"for example {file_name_for(name)}",
        )
    return name


def _target_abis(top: _Top) -> dict[str, Where]:
    """The targets, each once, with the places that name them."""
    abis: list[str] = top.value("target_abis")
    if not abis:
        where = top.context.where(("target_abis",))
        top.context.refuse(
            "'target_abis' is empty", where, remedy="name a target, or remove the line to build for host"
        )
    places: dict[str, Where] = {}
    for index, abi in enumerate(abis):
        where = top.context.where(("target_abis", index)) if top.is_given("target_abis") else Where(str(top.path))
        if abi in places:
            top.context.note(f"the target '{abi}' is named more than once", where)
        places.setdefault(abi, where)
    return places


def _formats(top: _Top) -> tuple[str, str]:
    section, context = top.section, top.context
    old_graph = {"proto": "file", "code": "code"}.get(section.build_type or "")
    old_data = None if section.embed_model_data is None else ("file", "code")[section.embed_model_data]
    pairs = (("model_graph_format", "build_type", old_graph), ("model_data_format", "embed_model_data", old_data))
    for new, old, meaning in pairs:
        given = getattr(section, new)
        if given is not None and meaning is not None and given != meaning:
            what = f"{quoted(old)} says {quoted(meaning)}, and {quoted(new)} says {quoted(given)}"
            context.refuse(what, context.where((old,)), remedy=f"remove '{old}', the old name of '{new}'")
    graph = section.model_graph_format or old_graph or default_of(DeploymentSection, "model_graph_format")
    data = section.model_data_format or old_data or default_of(DeploymentSection, "model_data_format")
    is_certain = not any((key,) in context.broken for pair in pairs for key in pair[:2])
    if graph == "file" and data == "code" and is_certain:
        place = "model_data_format" if top.is_given("model_data_format") else "embed_model_data"
        context.refuse(
            "`model_data_format: code` requires `model_graph_format: code`",
            context.where((place,)),
            rule="a graph that is loaded from a file has its weights in a file, too",
            remedy="set model_graph_format to code, or model_data_format to file",
        )
    return graph, data


def _op_paths(top: _Top) -> tuple[Path, ...]:
    folders = []
    for index, text in enumerate(top.section.op_paths or []):
        folder = top.context.absolute(text)
        if not _is_folder(folder):
            what = f"there is no folder {quoted(text)}"
            top.context.refuse(
                what, top.context.where(("op_paths", index)), rule="'op_paths' names folders of operators"
            )
        folders.append(folder)
    return tuple(folders)


def _is_folder(path: Path) -> bool:
    try:
        return path.is_dir()
    except (OSError, ValueError):
        return False


def _has_usable_name(context: Context, name: str) -> bool:
    usable = len(name) <= MAX_NAME_LENGTH and name.isprintable() and name.strip(" .") and "/" not in name
    if not usable:
        context.refuse(
            f"a model cannot be named {quoted(name)}",
            context.where(("models", name), key=True),
            rule=f"a name is printable, contains no '/', and has at most {MAX_NAME_LENGTH} characters",
        )
    return bool(usable)


def _identifier(context: Context, name: str, where: Where) -> str:
    identifier = identifier_for(name)
    if identifier != name:
        reason = "is a keyword of C++" if IDENTIFIER.fullmatch(name) else "is not an identifier"
        context.note(
            f"the model {quoted(name)} is called '{identifier}' in code",
            where,
            rule=f"{quoted(name)} {reason}: letters, digits and _ only, not beginning with a digit",
        )
    return identifier


def _refuse_same_identifiers(context: Context, models: Sequence[ModelConfig]) -> None:
    first: dict[str, ModelConfig] = {}
    for model in models:
        other = first.setdefault(model.identifier, model)
        if other is not model:
            what = (
                f"the models {quoted(other.name)} and {quoted(model.name)} are both called '{model.identifier}' in code"
            )
            context.refuse(what, model.where, remedy="rename one of them")


def _model(context: Context, name: str, section: ModelSection) -> ModelConfig:
    path: KeyPath = ("models", name)
    where = context.where(path, key=True)
    _note_dead_keys(context, path, section)
    views = _views(context, path, section)
    wide = View(context, path, (*(level for view in views for level in view.levels[:-1]), (path, section)))
    _refuse_disagreement(views)
    platform, model_file = wide.require("platform"), None
    if wide.require("model_file_path") is not None:
        model_file = wide.file("model_file_path", "model_sha256_checksum")
    micro = _micro(wide)
    config = ModelConfig(
        name=name,
        identifier=_identifier(context, name, where),
        platform=platform or "",
        model_file=model_file or _NOWHERE,
        weight_file=wide.file("weight_file_path", "weight_sha256_checksum"),
        subgraphs=() if (*path, "subgraphs") in context.broken else _subgraphs(context, views),
        runtime=Runtime(wide.find("runtime").value),
        data_type=wide.find("data_type").value,
        obfuscate=bool(wide.find("obfuscate").value),
        winograd=wide.find("winograd").value,
        quantize=QuantizeConfig(
            enabled=bool(wide.find("quantize").value),
            large_weights=_large_weights(wide),
            schema=wide.find("quantize_schema").value,
            range_file=wide.file("quantize_range_file"),
            weights_file=wide.file("quantize_weights_file"),
            equalize=bool(wide.find("quantize_equalize").value),
            change_concat_ranges=bool(wide.find("change_concat_ranges").value),
            operators=tuple(wide.find("quantize_operators").value),
            keep_float=tuple(wide.find("quantize_keep_float").value or ()),
        ),
        opencl=OpenclConfig(
            limit_kernel_time=bool(wide.find("limit_opencl_kernel_time").value),
            opencl_queue_window_size=wide.find("opencl_queue_window_size").value,
            mem_type=wide.find("cl_mem_type").value,
        ),
        graph_optimize_options=tuple(wide.find("graph_optimize_options").value or ()),
        settings=_settings(wide),
        micro_backend=micro,
        micro_arena_limit=_limit(wide, "arena_limit"),
        micro_flash_limit=_limit(wide, "flash_limit"),
        micro_frontend=_frontend(wide),
        where=where,
        marks=tuple((key, wide.where_of(key)) for key in _MODEL_WIDE if wide.find(key).is_given),
    )
    _check_model(wide, config)
    return config


def _large_weights(view: View) -> str:
    word = str(view.find("quantize_large_weights").value)
    return "" if word == "0" else word


def _views(context: Context, path: KeyPath, section: ModelSection) -> list[View]:
    """A view for each subgraph; a model without subgraphs is its own only one."""
    if section.subgraphs is None:
        return [View(context, path, ((path, section),))]
    if not section.subgraphs:
        context.refuse("'subgraphs' is empty", context.where((*path, "subgraphs")))
    views = []
    for index, graph in enumerate(section.subgraphs):
        here: KeyPath = (*path, "subgraphs", index)
        _note_dead_keys(context, here, graph)
        views.append(View(context, here, ((here, graph), (path, section))))
    return views


def _subgraphs(context: Context, views: Sequence[View]) -> tuple[Any, ...]:
    """The subgraphs in the order that `order` asks for; equal ones stay as the file has them."""
    ordered = sorted(views, key=lambda view: int(view.find("order").value))
    return tuple(resolve_subgraph(view) for view in ordered)


def _note_dead_keys(context: Context, path: KeyPath, section: GraphSection) -> None:
    for key in GraphSection.model_fields:
        if is_dead(GraphSection, key) and getattr(section, key) is not None:
            where = context.where((*path, key), key=True)
            context.note(f"the key '{key}' has no effect", where, remedy="remove the line")


def _refuse_disagreement(views: Sequence[View]) -> None:
    """Subgraphs may say what holds for their model, but not one this and another that."""
    for key in _MODEL_WIDE:
        found: list[tuple[View, Found]] = [(view, view.find(key)) for view in views if not view.is_broken(key)]
        for view, other in found[1:]:
            if other.value != found[0][1].value:
                what = f"the subgraphs of this model have different values of {quoted(key)}"
                remedy = f"set {quoted(key)} once in the model, or make two models"
                view.context.refuse(what, view.where_of(key), remedy=remedy)
                break


def _micro(view: View) -> str:
    section = view.find("micro").value
    if section is None:
        return ""
    return str(section.backend or default_of(MicroSection, "backend"))


def _limit(view: View, name: str) -> int | None:
    section = view.find("micro").value
    limit: int | None = None if section is None else getattr(section, name)
    return limit


def _frontend(view: View) -> tuple[tuple[str, Any], ...]:
    section = view.find("micro").value
    found = None if section is None else section.frontend
    if found is None:
        return ()
    return tuple((key, getattr(found, key)) for key in FrontendSection.model_fields if getattr(found, key) is not None)


def _settings(view: View) -> tuple[tuple[str, Any], ...]:
    """What the file says in the sections of the target that the model's runtime belongs to."""
    found: dict[str, Any] = {}
    for name in words().sections_of.get(view.find("runtime").value, ()):
        section, kind = view.find(name).value, words().sections[name]
        for key in kind.model_fields if section is not None else ():
            value = getattr(section, key)
            if value is not None:
                found[key] = view.context.absolute(value) if reader_of(kind, key) is PATH else value
    return tuple(found.items())


def _check_model(view: View, model: ModelConfig) -> None:
    context = view.context
    if model.platform == "caffe" and model.weight_file is None and not view.is_broken("weight_file_path"):
        what = "a Caffe model needs the key 'weight_file_path'"
        context.refuse(what, model.where, remedy="name the .caffemodel file")
    has_lone_checksum = view.find("weight_sha256_checksum").is_given and model.weight_file is None
    if has_lone_checksum and not view.is_broken("weight_file_path"):
        what = "'weight_sha256_checksum' is given without 'weight_file_path'"
        context.refuse(what, view.where_of("weight_sha256_checksum"))
    if model.quantize.enabled and model.quantize.large_weights:
        context.refuse(
            "'quantize' and 'quantize_large_weights' exclude each other",
            view.where_of("quantize_large_weights"),
            remedy="set one of them to 0",
        )
    if model.quantize.large_weights and model.data_type == "fp16_fp16":
        context.refuse(
            "'quantize_large_weights' and the data_type 'fp16_fp16' exclude each other",
            view.where_of("quantize_large_weights"),
            rule="the weights of fp16_fp16 are used as they are stored",
            remedy="set data_type to fp16_fp32, bf16_fp32 or fp32_fp32",
        )
    if model.quantize.enabled and model.data_type == "fp16_fp16":
        context.refuse(
            "'quantize' and the data_type 'fp16_fp16' exclude each other",
            view.where_of("quantize"),
            rule="layers that are not quantised are computed in single precision",
            remedy="set data_type to fp16_fp32 or fp32_fp32",
        )
    _check_precision(view, model)
    for key, checksum, file in (
        ("model_file_path", "model_sha256_checksum", model.model_file),
        ("weight_file_path", "weight_sha256_checksum", model.weight_file),
    ):
        if file is not None and file.is_url and not file.sha256 and not view.is_broken(checksum):
            context.note(
                f"{quoted(key)} is an address without a checksum",
                file.where,
                rule="files from the network must have a checksum",
                remedy=f"add '{checksum}', or pass --allow-unverified",
            )


def _check_precision(view: View, model: ModelConfig) -> None:
    if view.is_broken("runtime", "data_type"):
        return
    allowed = model.runtime.data_types
    if model.data_type in allowed:
        return
    if model.data_type == "uint8":
        rule, remedy = "uint8 is the type of the DSP", "set runtime to dsp, or use quantize for other runtimes"
    else:
        rule, remedy = f"allowed on the {model.runtime}: {' or '.join(allowed)}", ""
    what = f"the runtime {quoted(model.runtime)} has no 'data_type' {quoted(model.data_type)}"
    view.context.refuse(what, view.where_of("data_type"), rule=rule, remedy=remedy)
