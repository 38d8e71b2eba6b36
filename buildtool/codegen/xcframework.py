"""`<library>.xcframework`: the archives of a library for Apple's systems as Xcode takes them, with headers and a module
map for Swift."""

from __future__ import annotations

import plistlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Slice:
    """The archive for one platform. `platform` and `variant` are words of Xcode: macos, ios, simulator."""

    archive: Path
    machine: str  # arm64, x86_64
    platform: str
    variant: str = ""

    @property
    def identifier(self) -> str:
        """The folder of the slice."""
        return "-".join(filter(None, (self.platform, self.machine, self.variant)))


def files(
    library: str, identifier: str, slices: Sequence[Slice], headers: Mapping[str, bytes | Path]
) -> dict[str, bytes | Path]:
    """The files, by path in the output folder. `headers`: by path below `include`; `identifier`: the library's in C."""
    top = f"{library}.xcframework"
    entries = []
    found: dict[str, bytes | Path] = {}
    for part in slices:
        name = part.archive.name
        entry = {
            "BinaryPath": name,
            "HeadersPath": "Headers",
            "LibraryIdentifier": part.identifier,
            "LibraryPath": name,
            "SupportedArchitectures": [part.machine],
            "SupportedPlatform": part.platform,
        }
        entries.append(entry | ({"SupportedPlatformVariant": part.variant} if part.variant else {}))
        found[f"{top}/{part.identifier}/{name}"] = part.archive
        for header, contents in headers.items():
            found[f"{top}/{part.identifier}/Headers/{header}"] = contents
        module = f'module {identifier} {{\n  header "lathe/{library}.h"\n  export *\n}}\n'
        found[f"{top}/{part.identifier}/Headers/module.modulemap"] = module.encode()
    document = {
        "AvailableLibraries": entries,
        "CFBundlePackageType": "XFWK",
        "XCFrameworkFormatVersion": "1.0",
    }
    found[f"{top}/Info.plist"] = plistlib.dumps(document)
    return found
