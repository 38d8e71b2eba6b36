"""Which words may name a model or a library, and the nearest word that C++ accepts for one that it does not."""

from __future__ import annotations

import re

IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
# What every file system, shell and archive takes without quoting, and no option of a command looks like.
FILE_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.+-]*")
MAX_NAME_LENGTH = 128

_KEYWORDS = """
alignas alignof and and_eq asm auto bitand bitor bool break case catch char char8_t char16_t char32_t class compl
concept const consteval constexpr constinit const_cast continue co_await co_return co_yield decltype default delete
do double dynamic_cast else enum explicit export extern false float for friend goto if inline int long mutable
namespace new noexcept not not_eq nullptr operator or or_eq private protected public register reinterpret_cast
requires return short signed sizeof static static_assert static_cast struct switch template this thread_local throw
true try typedef typeid typename union unsigned using virtual void volatile wchar_t while xor xor_eq
"""
CPP_KEYWORDS = frozenset(_KEYWORDS.split())


def is_identifier(name: str) -> bool:
    """Whether generated C++ code may use the name as it is."""
    return IDENTIFIER.fullmatch(name) is not None and name not in CPP_KEYWORDS


def identifier_for(name: str) -> str:
    """The name itself if C++ accepts it, else the nearest word. Different names may share an identifier."""
    if is_identifier(name):
        return name
    word = re.sub(r"[^A-Za-z0-9_]+", "_", name).strip("_") or "model"
    if word[0].isdigit():
        word = f"m_{word}"
    return word if is_identifier(word) else f"{word}_"


def is_file_name(name: str) -> bool:
    """Whether the name is safe as the name of a file or folder on every machine."""
    return len(name) <= MAX_NAME_LENGTH and FILE_NAME.fullmatch(name) is not None


def file_name_for(stem: str) -> str:
    """A safe file name that resembles `stem`."""
    return re.sub(r"[^A-Za-z0-9_.+-]+", "_", stem).lstrip("-.+")[:MAX_NAME_LENGTH] or "library"
