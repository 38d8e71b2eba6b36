"""Results as JUnit's XML, which every CI system shows."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Case:
    """One thing that passed or failed: in which group, and why it failed."""

    group: str
    name: str
    failure: str = ""


def write(suite: str, cases: Iterable[Case]) -> bytes:
    """The file. It holds no time: equal results give equal bytes."""
    found = list(cases)
    failures = sum(bool(case.failure) for case in found)
    root = ET.Element("testsuites")
    element = ET.SubElement(root, "testsuite", name=suite, tests=str(len(found)), failures=str(failures), errors="0")
    for case in found:
        item = ET.SubElement(element, "testcase", classname=_printable(case.group), name=_printable(case.name))
        if case.failure:
            ET.SubElement(item, "failure", message=_printable(case.failure))
    ET.indent(root)
    text = ET.tostring(root, encoding="unicode")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{text}\n'.encode()


def outputs(document: Mapping[str, Any]) -> list[Case]:
    """The outputs of `lathe validate`."""
    return [
        Case(
            f"{result['model']}.{result['abi']}.{result['kind']}.{result['format']}.{result['device']}",
            result["output"],
            "" if result["passed"] else result.get("problem") or _below(result["cosine"], result["threshold"]),
        )
        for result in document["results"]
    ]


def layers(document: Mapping[str, Any]) -> list[Case]:
    """The layers of `lathe validate --layers`, and what is wrong although every layer is right."""
    cases: list[Case] = []
    for model in document["models"]:
        group = f"{model['model']}.{model['abi']}.{model['device']}"
        for layer in model["layers"]:
            failure = "" if layer["passed"] else layer.get("problem") or f"off by {layer['own']['max_abs']}"
            cases.append(Case(group, f"{layer['index']} {layer['node']} {layer['op']}", failure))
        if model["first"]:
            cases.append(Case(group, "first divergence", model["first"]["what"]))
        elif not model["layers"]:
            cases.append(Case(group, "first divergence"))
    return cases


def accuracy(document: Mapping[str, Any]) -> list[Case]:
    """The figures of `lathe validate --accuracy`."""
    return [
        Case(
            f"{result['model']}.{result['abi']}.{result['device']}",
            name,
            _below(value, result["thresholds"][name]) if value < result["thresholds"].get(name, value) else "",
        )
        for result in document["results"]
        for name, value in result["metrics"].items()
    ]


def _below(value: float, threshold: float) -> str:
    return f"{value:.6g} is below {threshold:g}"


def _printable(text: str) -> str:
    """XML has no place for control characters."""
    return "".join(letter if letter.isprintable() else "?" for letter in text)
