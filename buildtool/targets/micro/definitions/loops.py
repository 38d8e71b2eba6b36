"""Loops of C99 for expressions. Arrays that are read more than once, or in another order, have memory of their own."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from buildtool.targets.micro.definitions import expressions as ex
from buildtool.targets.micro.definitions.expressions import Expr
from buildtool.targets.micro.definitions.tracing import UntraceableError

#: Of elements in memory and of results: floating point is single precision. Integers are computed in 64 bits with a
#: sign, which hold all others but uint64.
C_TYPES = {
    "float64": "float",
    "float32": "float",
    "bool": "uint8_t",
    **{f"{word}int{bits}": f"{word}int{bits}_t" for word in ("", "u") for bits in (8, 16, 32, 64)},
}
del C_TYPES["uint64"]
_BYTES = {"float": 4, "double": 8} | {f"{word}int{bits}_t": bits // 8 for word in ("", "u") for bits in (8, 16, 32, 64)}
_MOST_TEXT = 200_000  # characters of a function
_MOST_EXPRESSIONS = 2000
_TOO_LONG = "its C would be too long"
HALVED = 16  # elements from which constants that are exact in bf16 are stored so
_INITIAL = {"sum": "0", "prod": "1"}
_WHOLE = (ex.Reduced, ex.Scanned, ex.Written, ex.Walk, ex.Called)  # what is not computed element by element
Env = tuple[str, ...]


@dataclass(frozen=True)
class Function:
    """A function of C. In its text @ stands for its name, and its arrays are called @ and a number."""

    text: str
    arrays: tuple[NDArray[Any], ...]
    inputs: tuple[int, ...]  # of the operator, those that it reads: its first arguments
    work: int  # bytes; its last argument if there are any
    in_place: bool  # whether the output may be in the memory of an input of its size
    wide: bool  # whether it needs memory aligned to 8 bytes


def function(root: Expr, inputs: Sequence[ex.Given]) -> Function:
    """UntraceableError where the loops would be too long."""
    try:
        return _Writer(inputs).function(root)
    except RecursionError:
        raise UntraceableError(_TOO_LONG) from None


@dataclass
class _Scope:
    """A block of statements, and what its variables are."""

    lines: list[str] = field(default_factory=list)
    known: dict[tuple[int, Env], str] = field(default_factory=dict)
    total: int = 1  # how often the nest around it runs its innermost block

    def inner(self, times: int) -> _Scope:
        return _Scope([], dict(self.known), self.total * times)


def c_type(expr: Expr) -> str:
    found = C_TYPES.get(expr.dtype.name)
    if found is None:
        raise UntraceableError(f"elements of type {expr.dtype}")
    return found


def literal(value: Any, kind: str) -> str:
    if kind != "float":
        number = int(value)
        if -(1 << 31) < number < 1 << 31:
            return str(number)
        return f"(-INT64_C({-number - 1}) - 1)" if number < 0 else f"INT64_C({number})"
    number = np.float32(value)
    if np.isnan(number):
        return "NAN"
    if np.isinf(number):
        return "INFINITY" if number > 0 else "-INFINITY"
    text = np.format_float_scientific(number, unique=True, trim="0")
    return f"{text}f" if number >= 0 else f"({text}f)"


class _Writer:
    def __init__(self, inputs: Sequence[ex.Given]) -> None:
        self._names: dict[int, str] = {id(each): each.name for each in inputs}
        self._inputs = {each.name: each for each in inputs}
        self._buffers: dict[int, str] = {}
        self._sizes: dict[str, tuple[str, int]] = {}  # by buffer: C type, elements
        self._arrays: list[NDArray[Any]] = []
        self._array_names: dict[bytes, str] = {}
        self._halves: set[str] = set()  # arrays of bf16
        self._statements: list[str] = []
        self._count = 0
        self._uses: Counter[int] = Counter()
        self._keep = False
        self._alive: list[Expr] = []  # so that ids stay their own

    def function(self, root: Expr) -> Function:
        if sum(1 for _ in _everything(root)) > 4 * _MOST_EXPRESSIONS:
            raise UntraceableError(_TOO_LONG)
        root = self._simple(root)
        self._uses = _uses(root)
        everything = list(_everything(root))
        if len(everything) > _MOST_EXPRESSIONS:
            raise UntraceableError(_TOO_LONG)
        self._keep = any(isinstance(each, _WHOLE) for each in everything)
        flat = self._is_flat(root)
        self._materialised(root, "y")
        buffers, work = self._placed()
        body = [*buffers, *self._statements]
        text = "\n".join(body)
        if len(text) > _MOST_TEXT:
            raise UntraceableError(_TOO_LONG)
        used = [name for name in self._inputs if re.search(rf"\b{name}\b", text)]
        arguments = [f"const {c_type(self._inputs[name])}* {name}" for name in used]
        arguments += [f"{c_type(root)}* y"] + (["int8_t* work"] if work else [])
        lines = [f"static void @({', '.join(arguments)}) {{", *_indented(body), "}"]
        kinds = [c_type(each) for each in everything]
        wide = any(_BYTES[kind] == 8 for kind in kinds) or any(isinstance(each, ex.Called) for each in everything)
        numbers = tuple(int(name[1:]) for name in used)
        return Function("\n".join(lines), tuple(self._arrays), numbers, work, flat and not work, wide)

    # -- before anything is written ----------------------------------------------------------------------------------
    def _simple(self, root: Expr) -> Expr:
        """Without conversions that change nothing, and with moves of single use in front of functions."""
        uses, new = _uses(root), dict[int, Expr]()

        def made(expr: Expr) -> Expr:
            if id(expr) not in new:
                for each in ex.walk(expr):
                    if id(each) not in new:
                        new[id(each)] = self._rebuilt(each, new, uses, made, root)
                        self._alive += [each, new[id(each)]]
            return new[id(expr)]

        return made(root)

    def _rebuilt(self, expr: Expr, new: dict[int, Expr], uses: Counter[int], made: Any, root: Expr) -> Expr:
        match expr:
            case ex.Map():
                operands = tuple(new[id(each)] for each in expr.operands)
                same = expr.code == "{0}" and c_type(operands[0]) == c_type(expr) and operands[0].shape == expr.shape
                return operands[0] if same else replace(expr, operands=operands)
            case ex.Moved():
                source = new[id(expr.source)]
                if isinstance(source, ex.Moved):
                    return replace(expr, source=source.source, positions=source.positions.ravel()[expr.positions])
                last = expr is root and expr.is_reshape  # its source is written as it is
                fits = (
                    isinstance(source, ex.Map) and uses[id(expr.source)] == 1 and expr.size <= source.size and not last
                )
                return _pushed(expr, source) if fits and isinstance(source, ex.Map) else replace(expr, source=source)
            case ex.Seen() | ex.Reduced() | ex.Scanned():
                return replace(expr, source=new[id(expr.source)])
            case ex.Written():
                return replace(expr, base=new[id(expr.base)], value=new[id(expr.value)])
            case ex.Taken():
                return replace(expr, source=new[id(expr.source)], places=new[id(expr.places)])
            case ex.Called():
                given = tuple(each if each is None else new[id(each)] for each in expr.operands)
                return replace(expr, operands=given)
            case ex.Walk():
                first = tuple(new[id(each)] for each in expr.first)
                following = tuple(made(each) for each in expr.following)
                return replace(expr, sequence=new[id(expr.sequence)], first=first, following=following)
            case _:
                return expr

    # -- memory ------------------------------------------------------------------------------------------------------
    def _fresh(self, letter: str) -> str:
        self._count += 1
        return f"{letter}{self._count}"

    def _buffer(self, expr: Expr) -> str:
        name = self._fresh("b")
        self._sizes[name] = (c_type(expr), expr.size)
        return name

    def _placed(self) -> tuple[list[str], int]:
        """Declarations of buffers, and how many bytes they take: those that are not needed at a time share memory."""
        spans: dict[str, list[int]] = {}
        for step, statement in enumerate(self._statements):
            for name in re.findall(r"\bb\d+\b", statement):
                spans.setdefault(name, [step, step])[1] = step
        placed: list[tuple[int, int, list[int]]] = []
        lines, size = [], 0
        for name, span in spans.items():
            kind, elements = self._sizes[name]
            wanted = -(-elements * _BYTES[kind] // 8) * 8
            taken = sorted((start, end) for start, end, other in placed if span[0] <= other[1] and other[0] <= span[1])
            at = 0
            for start, end in taken:
                if at + wanted <= start:
                    break
                at = max(at, end)
            placed.append((at, at + wanted, span))
            size = max(size, at + wanted)
            lines.append(f"{kind}* const {name} = ({kind}*)(void*)(work + {at});")
        return lines, size

    def _array(self, array: NDArray[Any]) -> str:
        kind = C_TYPES[array.dtype.name]
        stored = np.ascontiguousarray(array, np.float32) if kind == "float" else array
        stored = stored.astype(np.uint8) if array.dtype.kind == "b" else stored
        if kind == "float" and stored.size >= HALVED and not np.any(stored.view(np.uint32) & np.uint32(0xFFFF)):
            stored = (np.ascontiguousarray(stored).view(np.uint32) >> np.uint32(16)).astype(np.uint16)
        key = stored.dtype.str.encode() + stored.tobytes()
        if key not in self._array_names:
            self._array_names[key] = f"@_{len(self._arrays)}"
            self._arrays.append(stored.ravel())
        if kind == "float" and stored.dtype == np.uint16:
            self._halves.add(self._array_names[key])
        return self._array_names[key]

    def _element(self, array: str, place: str) -> str:
        """Of an array; floats that are stored as bf16 are widened."""
        return f"lm_widened({array}[{place}])" if array in self._halves else f"{array}[{place}]"

    def _address(self, expr: Expr) -> str:
        """The name of an array with all elements of an expression."""
        if id(expr) in self._names:
            return self._names[id(expr)]
        if isinstance(expr, ex.Constant):
            return self._array(expr.array)
        return self._materialised(expr)

    def _materialised(self, expr: Expr, target: str = "") -> str:
        if id(expr) in self._names and not target:
            return self._names[id(expr)]
        if isinstance(expr, ex.Moved) and expr.is_reshape and id(expr.source) not in self._names:
            name = self._materialised(expr.source, target)
        elif isinstance(expr, ex.Written):
            name = self._written(expr, target)
        elif isinstance(expr, ex.Scanned):
            name = self._scanned(expr, target or self._buffer(expr))
        elif isinstance(expr, ex.Walk):
            name = self._walked(expr, target or self._buffer(expr))
        elif isinstance(expr, ex.Called):
            name = self._called(expr, target or self._buffer(expr))
        else:
            name = target or self._buffer(expr)
            self._nest(expr, name)
        self._names[id(expr)] = name
        return name

    # -- statements --------------------------------------------------------------------------------------------------
    def _nest(self, expr: Expr, name: str) -> None:
        """All elements of an expression, one after the other."""
        shape = (expr.size,) if isinstance(expr, ex.Map) and self._is_flat(expr) else expr.shape
        env, opened = self._loops(shape)
        scope = _Scope(total=expr.size)
        flat = shape is not expr.shape
        known = isinstance(expr, ex.Constant) or id(expr) in self._names
        value = self._value(expr, env, scope) if known else self._computed(expr, env, scope, flat, root=True)
        scope.lines.append(f"{name}[{_linear(env, shape)}] = {value};")
        self._statements.append(_text(opened, scope.lines))

    def _loops(self, shape: Sequence[int]) -> tuple[Env, list[str]]:
        env, opened = [], []
        for size in shape:
            if size == 1:
                env.append("0")
            else:
                env.append(self._fresh("i"))
                opened.append(f"for (int32_t {env[-1]} = 0; {env[-1]} < {size}; ++{env[-1]}) {{")
        return tuple(env), opened

    def _written(self, expr: ex.Written, target: str) -> str:
        """In the memory of the base, where nothing else needs that, or in a copy."""
        own = sum(
            isinstance(each, ex.Moved) and each.source is expr.base and np.array_equal(each.positions, expr.positions)
            for each in ex.walk(expr.value)
        )
        free = self._uses[id(expr.base)] == 1 + own and not isinstance(expr.base, (ex.Constant, ex.Given))
        if free and id(expr.base) not in self._names:
            name = self._materialised(expr.base, target or self._buffer(expr))
        elif free and not target:
            name = self._names[id(expr.base)]
        else:
            name = target or self._buffer(expr)
            if not _covers(expr):
                self._nest(expr.base, name)
        env, opened = self._loops(expr.positions.shape)
        scope = _Scope(total=expr.positions.size)
        value = self._value(expr.value, env, scope)
        scope.lines.append(f"{name}[{self._position(expr.positions, env)}] = {value};")
        self._statements.append(_text(opened, scope.lines))
        return name

    def _scanned(self, expr: ex.Scanned, name: str) -> str:
        env, opened = self._loops(expr.shape[:-1])
        total, kind = self._fresh("a"), c_type(expr)
        (index,), inner = self._loops(expr.shape[-1:])
        scope = _Scope(total=expr.size)
        value = self._value(expr.source, (*env, index), scope)
        sign = "+" if expr.kind == "sum" else "*"
        scope.lines.append(f"{total} = ({kind})({total} {sign} {value});")
        scope.lines.append(f"{name}[{_linear((*env, index), expr.shape)}] = {total};")
        lines = [f"{kind} {total} = {_INITIAL[expr.kind]};", _text(inner, scope.lines)]
        self._statements.append(_text(opened, lines))
        return name

    def _called(self, expr: ex.Called, name: str) -> str:
        arguments = ["NULL" if each is None else self._widened(each) for each in expr.operands]
        arguments.append(name)
        if expr.scratch:
            work = self._fresh("b")
            self._sizes[work] = ("double", expr.scratch)
            arguments.append(work)
        self._statements.append(f"{expr.procedure}({', '.join(arguments)}, {expr.about});")
        return name

    def _widened(self, expr: Expr) -> str:
        """An array with all elements in their own type."""
        name = self._address(expr)
        if name in self._halves:
            name = self._buffer(expr)
            self._nest(expr, name)
        return name

    def _walked(self, expr: ex.Walk, name: str) -> str:
        """Everything in the loop is one statement, so that its memory is not shared."""
        sequence = self._address(expr.sequence)
        for state, first in zip(expr.states, expr.first, strict=True):
            self._names[id(state)] = self._buffer(state)
            self._nest(first, self._names[id(state)])
        step, around = self._fresh("t"), self._statements
        steps, size = expr.sequence.shape[0], expr.step.size
        at = f"{steps - 1} - {step}" if expr.backwards else step
        pointer = self._names[id(expr.step)] = self._fresh("p")
        self._statements = [f"const {c_type(expr.sequence)}* const {pointer} = {sequence} + ({at}) * {size};"]
        made = [self._buffer(each) for each in expr.following]
        for each, buffer in zip(expr.following, made, strict=True):
            self._nest(each, buffer)
        for state, buffer in zip(expr.states, made, strict=True):
            target = self._names[id(state)]
            line = f"for (int32_t k = 0; k < {state.size}; ++k) {target}[k] = {buffer}[k];"
            self._statements.append(line)
        chosen = expr.states[expr.which]
        start = "k" if expr.last else f"({at}) * {chosen.size} + k"
        copy = f"for (int32_t k = 0; k < {chosen.size}; ++k) {name}[{start}] = {self._names[id(chosen)]}[k];"
        body = [*self._statements, *([] if expr.last else [copy])]
        self._statements = around
        self._statements.append(_text([f"for (int32_t {step} = 0; {step} < {steps}; ++{step}) {{"], body))
        if expr.last:
            self._statements.append(copy)
        return name

    # -- values ------------------------------------------------------------------------------------------------------
    def _is_flat(self, expr: Expr) -> bool:
        """Whether each element depends on those in the same place only, and on single numbers."""
        if isinstance(expr, ex.Constant) or id(expr) in self._names:
            return True
        return isinstance(expr, ex.Map) and all(
            each.size == 1 or (each.shape == expr.shape and self._is_flat(each)) for each in expr.operands
        )

    def _value(self, expr: Expr, env: Env, scope: _Scope, flat: bool = False) -> str:
        """An element as an expression of C; statements in front of it go to the scope."""
        if isinstance(expr, ex.Constant) and expr.size == 1:
            return literal(expr.array.reshape(()), c_type(expr))
        if isinstance(expr, ex.Constant) and expr.size and np.all(expr.array == expr.array.flat[0]):
            return literal(expr.array.flat[0], c_type(expr))
        if id(expr) in self._names or isinstance(expr, ex.Constant):
            return self._element(self._address(expr), env[0] if flat else _linear(env, expr.shape))
        key = (id(expr), env)
        if key in scope.known:
            return scope.known[key]
        text = self._computed(expr, env, scope, flat)
        if self._uses[id(expr)] > 1 and id(expr) not in self._names and isinstance(expr, ex.Map):
            name = self._fresh("v")
            scope.lines.append(f"const {c_type(expr)} {name} = {text};")
            text = scope.known[key] = name
        return text

    def _computed(self, expr: Expr, env: Env, scope: _Scope, flat: bool, root: bool = False) -> str:
        """`root`: of the nest, so that it is not a nest of its own."""
        kept = self._keep and self._uses[id(expr)] > 1 and expr.size > 1 and not root
        if isinstance(expr, ex.Map) and not (kept and expr.is_costly):
            return self._mapped(expr, env, scope, flat)
        if isinstance(expr, ex.Moved):
            return self._element(self._address(expr.source), self._position(expr.positions, env))
        if isinstance(expr, ex.Seen):
            return self._seen(expr, env)
        if isinstance(expr, ex.Taken):
            source = self._address(expr.source)
            place = self._value(expr.places, env, scope)
            return self._element(source, f"lm_within({place}, {expr.source.size})")
        if isinstance(expr, ex.Reduced) and (root or (self._uses[id(expr)] == 1 and scope.total == expr.size)):
            return self._reduced(expr, env, scope)
        return f"{self._materialised(expr)}[{env[0] if flat else _linear(env, expr.shape)}]"

    def _mapped(self, expr: ex.Map, env: Env, scope: _Scope, flat: bool) -> str:
        texts = []
        for operand in expr.operands:
            if flat:
                place = ("0",) * len(operand.shape) if operand.size == 1 else env
                texts.append(self._value(operand, place, scope, operand.size > 1))
                continue
            own = env[len(env) - len(operand.shape) :]
            own = tuple("0" if size == 1 else at for size, at in zip(operand.shape, own, strict=True))
            texts.append(self._value(operand, own, scope))
        text, kind = expr.code.format(*texts), c_type(expr)
        plain = kind == "float" and expr.code != "{0}"
        return text if plain and all(c_type(each) == "float" for each in expr.operands) else f"(({kind}){text})"

    def _seen(self, expr: ex.Seen, env: Env) -> str:
        source, asked, index = self._address(expr.source), [], []
        for form, offset, size in zip(expr.forms, expr.offsets, expr.source.shape, strict=True):
            terms = [_times(at, factor) for at, factor in zip(env, form, strict=True) if factor and at != "0"]
            text = " + ".join(terms) or "0"
            text = f"{text} - {-offset}" if offset < 0 else f"{text} + {offset}" if offset else text
            reach = [factor * (count - 1) for factor, count in zip(form, expr.shape, strict=True)]
            if offset < 0 or offset + sum(reach) >= size:
                asked.append(f"(uint32_t)({text}) < {size}u")
            index.append(f"({text})" if " " in text else text)
        value = self._element(source, _linear(tuple(index), expr.source.shape))
        if not asked:
            return value
        return f"({' && '.join(asked)} ? {value} : {literal(expr.value, c_type(expr))})"

    def _reduced(self, expr: ex.Reduced, env: Env, scope: _Scope) -> str:
        """A loop in front of the statement."""
        total, kind = self._fresh("a"), c_type(expr.source)
        gone, opened = self._loops(expr.source.shape[len(expr.shape) :])
        inner = scope.inner(prod(expr.source.shape[len(expr.shape) :]))
        value = self._value(expr.source, (*env, *gone), inner)
        if expr.kind.startswith("arg"):
            place, sign = self._fresh("n"), ">" if expr.kind == "argmax" else "<"
            worst = _extreme(kind, expr.kind == "argmax")
            new = self._fresh("v")
            at = _linear(gone, expr.source.shape[len(expr.shape) :])
            nan = f" || ({new} != {new} && {total} == {total})" if kind == "float" else ""
            inner.lines += [
                f"const {kind} {new} = {value};",
                f"if ({new} {sign} {total}{nan}) {{",
                f"  {total} = {new};",
                f"  {place} = {at};",
                "}",
            ]
            scope.lines += [f"{kind} {total} = {worst};", f"int32_t {place} = 0;", _text(opened, inner.lines)]
            return place
        if expr.kind in ("sum", "prod"):
            sign = "+" if expr.kind == "sum" else "*"
            first = _INITIAL[expr.kind]
            change = f"{total} {sign}= {value};" if kind == "float" else f"{total} = ({kind})({total} {sign} {value});"
        else:
            first = _extreme(kind, expr.kind == "max")
            tail = "f" if kind == "float" else "i"
            found = f"lm_{expr.kind}_{tail}({total}, {value})"
            change = f"{total} = {found};" if kind == "float" else f"{total} = ({kind}){found};"
        inner.lines.append(change)
        scope.lines += [f"{kind} {total} = {first};", _text(opened, inner.lines)]
        return total

    # -- places ------------------------------------------------------------------------------------------------------
    def _position(self, positions: ex.Positions, env: Env) -> str:
        """Of an element: a sum over the axes, of multiples or of tables; or one table."""
        if not positions.size:
            return "0"
        base = int(positions[(0,) * positions.ndim])
        lines = [_along(positions, axis) - base for axis in range(positions.ndim)]
        whole = np.full(positions.shape, base, np.int64)
        for axis, line in enumerate(lines):
            whole += line.reshape([-1 if each == axis else 1 for each in range(positions.ndim)])
        if not np.array_equal(whole, positions):
            return f"{self._table(positions)}[{_linear(env, positions.shape)}]"
        terms = []
        for at, line in zip(env, lines, strict=True):
            if line.size == 1:
                continue
            step = int(line[1] - line[0])
            regular = np.array_equal(line, np.arange(line.size) * step)
            if regular and step:
                terms.append(_times(at, step))
            elif not regular:
                terms.append(f"{self._table(line)}[{at}]")
        text = " + ".join(terms) or "0"
        return f"{text} + {base}" if base else text

    def _table(self, numbers: NDArray[np.int64]) -> str:
        """Of integers in as few bytes as they fit in."""
        kinds = (np.uint8, np.int8, np.uint16, np.int16, np.int32)
        low, high = int(numbers.min()), int(numbers.max())
        kind = next(each for each in kinds if np.iinfo(each).min <= low and high <= np.iinfo(each).max)
        return self._array(numbers.astype(kind))


def _everything(root: Expr) -> Iterator[Expr]:
    """With the bodies of recurrences."""
    for each in ex.walk(root):
        yield each
        if isinstance(each, ex.Walk):
            for following in each.following:
                yield from _everything(following)


def _uses(root: Expr) -> Counter[int]:
    found: Counter[int] = Counter({id(root): 1})
    seen: set[int] = set()
    for each in _everything(root):
        if id(each) not in seen:
            seen.add(id(each))
            found.update(id(read) for read in each.reads)
            if isinstance(each, ex.Walk):
                found.update(id(following) for following in each.following)
    return found


def _pushed(moved: ex.Moved, source: ex.Map) -> ex.Map:
    """The function of moved operands, instead of moved results."""
    operands = []
    for each in source.operands:
        if each.size == 1:
            operands.append(replace_shape(each))
            continue
        places = np.broadcast_to(np.arange(each.size, dtype=np.int64).reshape(each.shape), source.shape)
        positions = places.ravel()[moved.positions]
        if isinstance(each, ex.Constant):
            operands.append(ex.Constant(positions.shape, each.dtype, each.array.ravel()[positions]))
        elif isinstance(each, ex.Moved):
            positions = each.positions.ravel()[positions]
            operands.append(ex.Moved(positions.shape, each.dtype, each.source, positions))
        else:
            operands.append(ex.Moved(positions.shape, each.dtype, each, positions))
    return replace(source, shape=moved.shape, operands=tuple(operands))


def replace_shape(expr: Expr) -> Expr:
    """A single number without axes."""
    if isinstance(expr, ex.Constant):
        return ex.Constant((), expr.dtype, expr.array.reshape(()))
    return expr if expr.shape == () else ex.Moved((), expr.dtype, expr, np.zeros((), np.int64))


def _covers(expr: ex.Written) -> bool:
    """Whether nothing is left of the base."""
    return expr.positions.size >= expr.size and np.unique(expr.positions).size == expr.size


def _along(positions: ex.Positions, axis: int) -> NDArray[np.int64]:
    index: list[Any] = [0] * positions.ndim
    index[axis] = slice(None)
    return np.asarray(positions[tuple(index)])


def _times(at: str, factor: int) -> str:
    text = f"({at})" if " " in at and not at.startswith("(") else at
    return text if factor == 1 else f"{text} * {factor}" if factor >= 0 else f"{text} * ({factor})"


def _linear(env: Env, shape: Sequence[int]) -> str:
    terms, step = [], 1
    for at, size in zip(reversed(env), reversed(tuple(shape)), strict=True):
        if at != "0" and size > 1:
            terms.append(_times(at, step))
        step *= size
    return " + ".join(reversed(terms)) or "0"


def _extreme(kind: str, lowest: bool) -> str:
    if kind == "float":
        return "-INFINITY" if lowest else "INFINITY"
    word = kind.upper().removesuffix("_T")
    if word.startswith("U"):
        return "0" if lowest else f"{word}_MAX"
    return f"{word}_{'MIN' if lowest else 'MAX'}"


def _indented(lines: Sequence[str]) -> list[str]:
    return [f"  {line}" for text in lines for line in text.splitlines()]


def _text(opened: Sequence[str], lines: Sequence[str]) -> str:
    """Lines in loops."""
    found = list(lines)
    for head in reversed(opened):
        found = [head, *_indented(found), "}"]
    return "\n".join(found)
