"""The OpenCL texts of a library: made small and put into the one stream that native/opencl/sources.h describes.

Nothing is renamed: kernels, macros and what the runtime defines keep their names.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePosixPath

from buildtool.codegen import lz
from buildtool.codegen.native_sources import NativeSources
from buildtool.errors import BuildError, Where

FOLDER = "native/opencl"
_COMMON = f"{FOLDER}/common.cl"
_INCLUDE = re.compile(r'[ \t]*#[ \t]*include[ \t]*"([^"\n]+)"[ \t]*')
_WITHOUT_COMMENTS = re.compile(r"""//[^\n]*|/\*.*?\*/|("(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')""", re.DOTALL)
_TOKEN = re.compile(
    r"""
      "(?:\\.|[^"\\])*" | '(?:\\.|[^'\\])*'                # texts
    | \.?\d(?:[eEpP][+-]|[\w.])* | [A-Za-z_]\w*            # numbers as the preprocessor sees them, and words
    | //|/\* | <<=|>>=|\.\.\.|\#\#|<<|>>|<=|>=|==|!=|&&|\|\||\+\+|--|->|[-+*/%&|^]= | \S
    """,
    re.VERBOSE,
)
_DEFINITION = re.compile(r"#\s*define\s+(\w+)(\([^)]*\))?(.*)")
_PROSE = re.compile(r"#\s*(pragma|error|warning)\b")  # what follows is not in the language
_LINE = 800  # characters: the least that compilers have to take is 4095


def sources_of(units: Sequence[str], sources: NativeSources) -> bytes:
    """The stream of these units, with what their texts include."""
    texts = {unit: "".join(_included(f"{FOLDER}/ops/{unit}.cl", sources, ())) for unit in units}
    return pack("".join(_included(_COMMON, sources, ())), texts)


def _included(path: str, sources: NativeSources, around: Sequence[str]) -> Iterator[str]:
    """The lines of a file; those that include another one are replaced by its lines."""
    for number, line in enumerate(_text(path, sources).splitlines(keepends=True), 1):
        match = _INCLUDE.fullmatch(line.rstrip("\n"))
        if match is None:
            yield line
            continue
        found = [name for name in _candidates(path, match.group(1)) if sources.has(name)]
        where = Where(file=path, line=number)
        if not found:
            raise BuildError(
                f"the file '{match.group(1)}' does not exist",
                where=where,
                rule=f"files are looked for in {FOLDER}, then beside this one",
            )
        if found[0] in (path, *around):
            raise BuildError(f"the file '{match.group(1)}' includes itself", where=where)
        yield from _included(found[0], sources, (path, *around))
        yield "\n"


def _candidates(path: str, name: str) -> tuple[str, str]:
    """What units share goes before another unit's text, which may have the same name."""
    return f"{FOLDER}/{name}", str(PurePosixPath(path).parent / name)


def _text(path: str, sources: NativeSources) -> str:
    try:
        return sources.read(path).decode("utf-8")
    except UnicodeDecodeError as problem:
        raise BuildError("this is not UTF-8 text", where=Where(file=path)) from problem


def pack(common: str, units: Mapping[str, str]) -> bytes:
    """The stream of a library: what all units share, then each unit's text, in this order."""
    return _pack((("common", common), *units.items()))


@functools.lru_cache(maxsize=16)  # the ABIs of a library have the same texts
def _pack(named: tuple[tuple[str, str], ...]) -> bytes:
    texts = [_encoded(name, minify(text)) for name, text in named]
    whole = b"".join(texts)
    return b"".join((*(_number(len(text)) for text in texts), _fnv1a(whole).to_bytes(4, "little"), lz.compress(whole)))


def unpack(stream: bytes, count: int) -> list[str]:
    """The texts of a stream. lz.CorruptTextError where it is none of `count` texts."""
    sizes, at = [], 0
    for _ in range(count):
        size = shift = 0
        while True:
            if at >= len(stream):
                raise lz.CorruptTextError("the stream ends within its lengths")
            size |= (stream[at] & 0x7F) << shift
            shift, at = shift + 7, at + 1
            if stream[at - 1] < 0x80:
                break
        sizes.append(size)
    whole = lz.decompress(stream[at + 4 :], sum(sizes))
    if _fnv1a(whole) != int.from_bytes(stream[at : at + 4], "little"):
        raise lz.CorruptTextError("the checksum does not match")
    ends = [sum(sizes[: number + 1]) for number in range(count)]
    return [whole[end - size : end].decode("ascii") for size, end in zip(sizes, ends, strict=True)]


def _encoded(name: str, text: str) -> bytes:
    for character in text:
        if not ("\x20" <= character <= "\x7e" or character == "\n"):
            raise BuildError(
                f"the OpenCL text '{name}' contains the character {character!r} outside of comments",
                rule="OpenCL C is written in ASCII",
            )
    return text.encode("ascii")


def _number(value: int) -> bytes:
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def _fnv1a(text: bytes) -> int:
    value = 0x811C9DC5
    for byte in text:
        value = (value ^ byte) * 0x01000193 & 0xFFFFFFFF
    return value


def minify(text: str) -> str:
    """The same program in fewer characters: no comments, no blank lines, no spaces that separate nothing."""
    text = text.replace("\r\n", "\n").replace("\\\n", " ")
    text = _WITHOUT_COMMENTS.sub(lambda found: found.group(1) or " ", text)
    lines: list[str] = []
    tokens: list[str] = []
    for line in (*text.split("\n"), "#"):
        line = line.strip()
        if line.startswith("#"):
            lines.append(_joined(tokens))
            tokens.clear()
            lines.append(_directive(line))
        else:
            tokens += _TOKEN.findall(line)
    return "".join(f"{line}\n" for line in lines if line.strip("#"))


def _directive(line: str) -> str:
    if _PROSE.match(line):
        return "#" + " ".join(line[1:].split())
    match = _DEFINITION.fullmatch(line)
    if match is None:
        return _joined(_TOKEN.findall(line), breaks=False)
    name, parameters, value = match.groups()
    value = _joined(_TOKEN.findall(value), breaks=False)
    if parameters is None:
        return f"#define {name} {value}".rstrip()  # without the space, (x) would become a parameter
    return f"#define {name}{''.join(parameters.split())}{value}"


def _joined(tokens: Sequence[str], *, breaks: bool = True) -> str:
    """One line, or, with `breaks`, lines that any compiler takes."""
    out: list[str] = []
    before, length = "", 0
    for token in tokens:
        if breaks and length > _LINE:
            out.append("\n")
            length = 0
        elif before and _merge(before, token):
            out.append(" ")
        out.append(token)
        before, length = token, length + len(token)
    return "".join(out)


@functools.cache
def _merge(first: str, second: str) -> bool:
    """Whether two tokens, written behind each other, would be read as something else."""
    return _TOKEN.findall(first + second) != [first, second]
