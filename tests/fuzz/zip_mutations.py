"""Changes zip archives by their members: names, contents, order and compression. Checksums are right afterwards."""

from __future__ import annotations

import io
import random
import zipfile

from tests.fuzz import byte_mutations


def mutate(data: bytes, most: int, seed: int) -> bytes:
    """Called by the fuzzer with an input; gives another one. What is no archive is changed by its bytes."""
    dice = random.Random(seed)
    members = _members(data)
    if not members or dice.random() < 0.1:
        return byte_mutations.mutate(data, most, seed)
    place = dice.randrange(len(members))
    name, content = members[place]
    draw = dice.random()
    if draw < 0.7 and content:
        members[place] = name, byte_mutations.mutate(content, len(content) + 64, dice.randrange(2**31))
    elif draw < 0.8:
        del members[place]
    elif draw < 0.9:
        members.append((name if dice.random() < 0.3 else f"{name}{dice.randrange(9)}", content))
    else:
        members[place] = members[dice.randrange(len(members))][0], content
    changed = _archive(members, dice.choice((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)))
    return changed if len(changed) <= most else data


def _members(data: bytes) -> list[tuple[str, bytes]]:
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            small = [info for info in archive.infolist() if info.file_size <= 1 << 16]
            return [(info.filename, archive.read(info)) for info in small]
    except Exception:  # what the module raises for damaged archives is many things
        return []


def _archive(members: list[tuple[str, bytes]], method: int) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", method) as archive:
        for name, content in members:
            archive.writestr(zipfile.ZipInfo(name), content, method)
    return stream.getvalue()
