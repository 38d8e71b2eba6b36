"""Inputs and outputs: the tensors that a request names, their shapes, and the orders in which users pass them."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Sequence

import numpy as np

from buildtool.errors import ModelFileError, Problem, Where
from buildtool.importers.builder import Builder, Tensor
from buildtool.importers.model import SourceDim, SourceModel, SourceTensor
from buildtool.importers.request import DeclaredShape, TensorRequest
from buildtool.ir.dims import Dim, DimOp, Shape, Symbol, symbol
from buildtool.ir.graph import Value
from buildtool.ir.operator import Array, AttrValue
from buildtool.ir.quantised import dequantised
from buildtool.ir.types import DType, QuantType, TensorType, dtype_of

#: From the order in which the user passes a tensor of rank 4 to the order that the model works in.
_TO_MODEL = {("NHWC", "NCHW"): (0, 3, 1, 2), ("NCHW", "NHWC"): (0, 2, 3, 1)}
_WORDS_OF_EXPRESSIONS = frozenset({DimOp.MIN.value, DimOp.MAX.value})  # no symbol may be called so
_OTHER = {"NHWC": "NCHW", "NCHW": "NHWC"}


class Borders:
    """Makes the graph's inputs and outputs as they are declared."""

    def __init__(self, model: SourceModel, builder: Builder) -> None:
        self._model = model
        self._builder = builder
        self._symbols: dict[str, Symbol] = builder.graph.symbols
        self._given: set[Value] = set()  # inputs and outputs of the graph so far
        self._taken: set[str] | None = None  # names in the graph, since the first output
        self._as_in_file: set[str] = set()  # tensors of `other_layout` that are declared in the framework's order

    # -- which -------------------------------------------------------------------------------------------------------
    def requests(self, declared: Sequence[TensorRequest], of_model: Iterable[str]) -> tuple[TensorRequest, ...]:
        """The declared tensors, or those of the model in the model's own order."""
        if not declared:
            return tuple(TensorRequest(name, data_format="MODEL", where=self._model.where) for name in of_model)
        return tuple(declared)

    def check_names(self, *declared: Sequence[TensorRequest]) -> None:
        """ModelFileError with all declared names that the model does not have, or that are named twice in one list."""
        names = self._model.names()
        problems: list[Problem] = []
        for requests in declared:
            problems += [self._missing(request, names) for request in requests if request.name not in names]
            seen: set[str] = set()
            for request in requests:
                if request.name in seen:
                    problems.append(Problem(f"the tensor '{request.name}' is named twice", _place_of_name(request)))
                seen.add(request.name)
        if problems:
            raise ModelFileError(problems)

    def _missing(self, request: TensorRequest, names: frozenset[str]) -> Problem:
        near = difflib.get_close_matches(request.name, names, n=1)
        return Problem(
            f"the model has no tensor '{request.name}'",
            _place_of_name(request),
            rule=f"inputs of the model: {_listed(self._model.inputs)}; outputs: {_listed(self._model.outputs)}",
            remedy=f"did you mean '{near[0]}'?"
            if near
            else "write a name of the model; `lathe inspect MODEL` lists its inputs and outputs",
        )

    def native_order(self, name: str, rank: int) -> str:
        """The order in which the model itself has a tensor."""
        if rank != 4:
            return "NONE"
        turned = name in self._model.other_layout and name not in self._as_in_file
        return _OTHER[self._model.layout] if turned else self._model.layout

    def _settle_order(self, request: TensorRequest, of_model: Sequence[SourceDim] | None) -> None:
        """That a tensor of rank 4 is in the other order is a guess: a declaration that fits only without it decides."""
        declared, layout = request.shape, self._model.layout
        if declared is None or of_model is None or len(declared) != 4 or request.data_format != layout:
            return
        turned = tuple(declared[axis] for axis in _TO_MODEL[layout, _OTHER[layout]])
        if _fits(declared, of_model) and not _fits(turned, of_model):
            self._as_in_file.add(request.name)

    # -- inputs ------------------------------------------------------------------------------------------------------
    def add_input(self, request: TensorRequest) -> tuple[Tensor, str]:
        """A new graph input, as the model sees it, and the format that the user passes."""
        source = self._model.inputs.get(request.name) or self._model.declared.get(request.name)
        source = source or SourceTensor(request.name, None, None)
        self._settle_order(request, source.shape)
        shape, order = self._input_shape(request, source)
        native = self.native_order(request.name, len(shape))
        dtype = source.dtype or request.dtype or DType.F32
        value = Value(request.name, TensorType(request.dtype or source.half or dtype, shape), (request.name,))
        self._builder.graph.inputs.append(value)
        self._given.add(value)
        tensor = Tensor(value.type, None, value)
        self._check_type(request, value.type.dtype, dtype, source.quantisation, "input")
        tensor = self._converted(request.name, tensor, dtype, source.quantisation)
        perm = _TO_MODEL.get((order, native)) if len(shape) == 4 else None
        if request.name in self._model.initial:
            self._builder.graph.initial[request.name] = self._initial(value, source.quantisation, perm)
        if perm is not None:
            (tensor,) = self._builder.emit(request.name, "transpose", [tensor], {"perm": perm})
            # The transposed value is what the model calls by this name; the input itself is in the user's order.
            if tensor.value is not None:
                tensor.value.source_names = (request.name,)
                value.source_names = ()
        return tensor, order

    def _initial(self, value: Value, quant: QuantType | None, perm: tuple[int, ...] | None) -> Array:
        """What a state begins with, as the user would pass it."""
        array = self._model.initial[value.name]
        if value.type.dtype.is_float and array.dtype.kind != "f" and quant is not None:
            array = dequantised(array, TensorType(dtype_of(array), tuple(array.shape), quant))
        array = array if perm is None else array.transpose(np.argsort(perm))
        return np.ascontiguousarray(array, value.type.dtype.numpy)

    def _input_shape(self, request: TensorRequest, source: SourceTensor) -> tuple[Shape, str]:
        """The shape of the graph input in the user's order, and that order."""
        declared = request.shape
        rank = len(declared) if declared is not None else len(source.shape or ())
        native = self.native_order(request.name, rank)
        order = native if request.data_format == "MODEL" else _effective(request.data_format, rank, native)
        perm = _TO_MODEL.get((order, native))
        if declared is None:
            sizes: Shape = self._sizes_of_model(request, source)
            if perm is not None:  # back from the model's order to the user's
                sizes = tuple(sizes[perm.index(axis)] for axis in range(rank))
            return sizes, order
        model_shape = source.shape
        if model_shape is not None:
            self._check_fit(request, declared, model_shape, perm, "input")
        in_model = tuple(declared[axis] for axis in perm) if perm else declared
        words = model_shape if model_shape is not None else (None,) * rank
        sizes = tuple(
            self._dim(request, axis, size, word) for axis, (size, word) in enumerate(zip(in_model, words, strict=True))
        )
        return tuple(sizes[perm.index(axis)] for axis in range(rank)) if perm else sizes, order

    def _sizes_of_model(self, request: TensorRequest, source: SourceTensor) -> tuple[int, ...]:
        shape = source.shape if source.usual is None else source.usual
        sizes = [dim for dim in shape or () if isinstance(dim, int)]
        if shape is None or len(sizes) < len(shape):
            shown = "no shape" if shape is None else f"the shape {_shown(shape)}"
            raise ModelFileError(
                f"the model gives '{request.name}' {shown}",
                where=request.where,
                rule="dimensions are integers, or bounds if they are known only at run time",
                remedy="declare input_shapes for it",
            )
        return tuple(sizes)

    def _dim(self, request: TensorRequest, axis: int, size: int | tuple[int, int], word: SourceDim) -> Dim:
        if isinstance(size, int):
            return size
        low, high = size
        if low == high:
            return low
        name = word if isinstance(word, str) else f"{request.name}_{axis}"
        name = re.sub(r"[^A-Za-z0-9_]", "_", name)
        name = name if re.match(r"[A-Za-z_]", name) and name not in _WORDS_OF_EXPRESSIONS else f"d_{name}"
        known = self._symbols.get(name)
        if known is not None and (known.low, known.high) != (low, high):
            raise ModelFileError(
                f"the size '{word}' of '{request.name}' is bounded by {low}..{high} here and by "
                f"{known.low}..{known.high} before",
                where=request.where,
                rule="dimensions with the same name in the model are equal at run time",
                remedy="give them the same bounds",
            )
        dim = symbol(name, low, high)
        assert dim.symbol is not None
        self._symbols[name] = dim.symbol
        return dim

    # -- outputs -----------------------------------------------------------------------------------------------------
    def add_output(self, request: TensorRequest, tensor: Tensor) -> str:
        """A new graph output made from a tensor of the model; tells the format that the user gets."""
        self._settle_order(request, tuple(dim if isinstance(dim, int) else None for dim in tensor.shape))
        native = self.native_order(request.name, tensor.rank)
        order = native if request.data_format == "MODEL" else _effective(request.data_format, tensor.rank, native)
        perm = _TO_MODEL.get((native, order))  # from the model's order to the user's
        if request.shape is not None:
            shape = tuple(dim if isinstance(dim, int) else None for dim in tensor.shape)
            self._check_fit(request, request.shape, shape, _TO_MODEL.get((order, native)), "output")
        names = tensor.value.source_names if tensor.value is not None else ()
        if perm is not None:
            (tensor,) = self._builder.emit(request.name, "transpose", [tensor], {"perm": perm})
        source = self._model.outputs.get(request.name) or self._model.declared.get(request.name)
        quantisation = source.quantisation if source is not None else None
        own = DType.F32 if request.real and quantisation is not None else tensor.dtype
        dtype = request.dtype or (source.half if source is not None else None) or own
        self._check_type(request, tensor.dtype, dtype, quantisation, "output")
        tensor = self._converted(request.name, tensor, dtype, quantisation)
        graph = self._builder.graph
        value = self._builder.value(tensor, request.name)
        if value.is_constant or value in self._given:
            node = graph.new_node(self._builder.operators["identity"](), [value], request.name)
            graph.nodes.append(node)
            value = node.outputs[0]
        if value.name not in (request.name,):
            value.name = self._free_name(request.name)
        if request.name in names or not names:
            value.add_source_names((request.name,))
        graph.outputs.append(value)
        self._given.add(value)
        return order

    def _check_type(
        self, request: TensorRequest, given: DType, wanted: DType, quant: QuantType | None, kind: str
    ) -> None:
        """ModelFileError where a declared type cannot hold what the model's own type means."""
        if _keeps_meaning(given, wanted) or (quant is not None and quant.axis is None):
            return
        declared, own = (given, wanted) if kind == "input" else (wanted, given)
        kept = [other.word for other in DType if _keeps_meaning(*((other, own) if kind == "input" else (own, other)))]
        raise ModelFileError(
            f"the {kind} '{request.name}' is {declared.word} here, and {own.word} in the model",
            where=request.where if request.where != Where() else self._model.where,
            rule=f"{kind}_data_types is the model's own type, or one that keeps the values: {', '.join(kept)}",
            remedy=f"declare {kind}_data_types: [{own.word}]",
        )

    def _converted(self, name: str, tensor: Tensor, dtype: DType, quant: QuantType | None) -> Tensor:
        """The tensor in another type. Where one of both is quantised, floats are what the whole numbers stand for."""
        if tensor.dtype is dtype:
            return tensor
        emit = self._builder.emit
        if quant is None or quant.axis is not None or tensor.dtype.is_float is dtype.is_float:
            return emit(name, "cast", [tensor], {"to": dtype})[0]
        whole = dtype if dtype.is_integer else tensor.dtype
        scale = Tensor.of(np.array(quant.scales[0], np.float32))
        zero_point = Tensor.of(np.array(quant.zero_points[0], whole.numpy))
        flat: dict[str, AttrValue] = {"axis": 0, "block": 0}
        if tensor.dtype.is_float:
            (single,) = emit(name, "cast", [tensor], {"to": DType.F32}) if tensor.dtype is not DType.F32 else (tensor,)
            return emit(name, "quantize_linear", [single, scale, zero_point], flat | {"to": dtype})[0]
        (single,) = emit(name, "dequantize_linear", [tensor, scale, zero_point], flat)
        return single if dtype is DType.F32 else emit(name, "cast", [single], {"to": dtype})[0]

    def _free_name(self, name: str) -> str:
        """This name, or another where the graph has it already: names that it makes up are never declared ones."""
        if self._taken is None:
            self._taken = {value.name for value in self._builder.graph.values()}
        free = name if name not in self._taken else self._builder.graph.fresh_name(f"{name}.out")
        self._taken.add(free)
        return free

    # -- fit ---------------------------------------------------------------------------------------------------------
    def _check_fit(
        self,
        request: TensorRequest,
        declared: DeclaredShape,
        of_model: Sequence[SourceDim],
        perm: tuple[int, ...] | None,
        kind: str,
    ) -> None:
        """ModelFileError where a declared shape does not fit the model's, with the format that would make it fit."""
        ordered = tuple(declared[axis] for axis in perm) if perm else declared
        if _fits(ordered, of_model):
            return
        shown = _shown(of_model if perm is None else tuple(of_model[perm.index(axis)] for axis in range(len(perm))))
        remedy = f"declare {kind}_shapes that fit {shown}"
        if len(declared) == len(of_model) == 4:
            native = self.native_order(request.name, 4)
            order = _effective(request.data_format, 4, native)
            other = _OTHER.get(order, "")
            other_perm = _TO_MODEL.get((other, native))
            if other and _fits(tuple(declared[axis] for axis in other_perm) if other_perm else declared, of_model):
                remedy = f"the shape fits in the other order: declare {kind}_data_formats: {other}"
        raise ModelFileError(
            f"'{request.name}' is declared with the shape {_shown(declared)}, "
            f"but the model has {shown}{f' (as {request.data_format})' if perm else ''}",
            where=request.where if request.where != Where() else self._model.where,
            rule=f"declared shapes are those of the model, in the order of {kind}_data_formats "
            f"({request.data_format if request.data_format != 'MODEL' else 'NONE'} here)",
            remedy=remedy,
        )


def _place_of_name(request: TensorRequest) -> Where:
    return request.where if request.name_where == Where() else request.name_where


def _effective(data_format: str, rank: int, native: str) -> str:
    """The order that a declared format means for a tensor of this rank."""
    if rank == 4 and data_format in _OTHER:
        return data_format
    return native if data_format == "MODEL" else "NONE"


def _keeps_meaning(given: DType, wanted: DType) -> bool:
    """Whether numbers stay what they are, but for the precision of floats; 32 bits hold what 64 bits count."""
    if given.is_float and wanted.is_float:
        return True
    counts = (DType.S32, DType.S64)
    return np.can_cast(given.numpy, wanted.numpy) or (given in counts and wanted in counts)


def _fits(declared: DeclaredShape, of_model: Sequence[SourceDim]) -> bool:
    if len(declared) != len(of_model):
        return False
    return all(
        not isinstance(known, int) or (size == known if isinstance(size, int) else size[0] <= known <= size[1])
        for size, known in zip(declared, of_model, strict=True)
    )


def _listed(names: Iterable[str]) -> str:
    return ", ".join(names) or "none"


def _shown(shape: Sequence[object]) -> str:
    def one(dim: object) -> str:
        if isinstance(dim, tuple):
            return f"{dim[0]}..{dim[1]}"
        return "?" if dim is None else str(dim)

    return "[" + ", ".join(one(dim) for dim in shape) + "]"
