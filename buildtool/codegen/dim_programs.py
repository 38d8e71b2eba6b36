"""Dimension expressions as the container stores them: postfix programs of `(operand << 4 | opcode)`."""

from __future__ import annotations

from collections.abc import Sequence

from buildtool.ir.dims import MOST_PARTS, Dim, DimExpr, DimOp, Symbol, combine, postfix

_PUSH_NUMBER, _PUSH_SYMBOL = 0, 1
_OPCODES = {op: code for code, op in enumerate(DimOp, start=2)}
_OPS = {code: op for op, code in _OPCODES.items()}
MAX_PROGRAM = MOST_PARTS  # elements; real models need a handful
_NUMBER_LIMIT = 2**60


def encode(dim: Dim, symbols: dict[Symbol, int]) -> list[int]:
    """The program of a dimension. `symbols` numbers the symbols; new ones are added."""
    code = []
    for item in postfix(dim):
        if isinstance(item, int):
            code.append(item << 4 | _PUSH_NUMBER)
        elif isinstance(item, Symbol):
            code.append(symbols.setdefault(item, len(symbols)) << 4 | _PUSH_SYMBOL)
        else:
            code.append(_OPCODES[item])
    return code


def decode(code: Sequence[int], symbols: Sequence[Symbol]) -> Dim:
    """The dimension of a program. ValueError where it is none."""
    if len(code) > MAX_PROGRAM:
        raise ValueError(f"an expression has {len(code)} elements; at most {MAX_PROGRAM} are allowed")
    stack: list[Dim] = []
    for element in code:
        opcode, operand = element & 15, element >> 4
        if opcode == _PUSH_NUMBER:
            stack.append(operand)
        elif opcode == _PUSH_SYMBOL:
            if not 0 <= operand < len(symbols):
                raise ValueError(f"an expression names symbol {operand} of {len(symbols)}")
            stack.append(DimExpr(None, symbol=symbols[operand]))
        elif opcode in _OPS:
            if len(stack) < 2 or operand:
                raise ValueError("an expression applies an operation to fewer than two operands")
            right, left = stack.pop(), stack.pop()
            result = combine(_OPS[opcode], left, right)
            if isinstance(result, int) and abs(result) > _NUMBER_LIMIT:
                raise ValueError("a number in an expression is too large")
            stack.append(result)
        else:
            raise ValueError(f"an expression has the unknown operation {opcode}")
    if len(stack) != 1:
        raise ValueError("an expression leaves no single result")
    return stack[0]
