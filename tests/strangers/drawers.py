"""The process of a framework that draws models, and what it writes as jobs of workers."""

from __future__ import annotations

import contextlib
import json
import select
import shutil
import subprocess
import threading
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.strangers.judge import Verdict
from tests.strangers.pool import ROOT, Worker
from tests.strangers.recipes import ENDED, Recipe, Written

SECONDS = 180.0  # for one model in all its forms; the process has a shorter limit for all but its start
#: The forms of the models of a family, in groups: each model is written in one of each group.
FORMS: dict[str, tuple[tuple[str, ...], ...]] = {
    "keras": (("keras", "h5"), ("frozen", "frozen", "saved"), ("tflite", "int8")),
    "torch": (("script",), ("dynamo", "", "", "pt2", "", "")),
}
_TRIES = 60  # smaller models


class Drawer:
    """One process, started on first need; several threads may ask."""

    def __init__(self, python: Path, family: str) -> None:
        self._command = [str(python), "-m", f"tests.strangers.{family}_models"]
        self._process: subprocess.Popen[str] | None = None
        self._lock = threading.Lock()

    def write(self, recipe: Recipe, folder: Path, forms: list[str]) -> Written | str:
        """Folders `<form>` in `folder`, each with a case, or with the reason why there is none; or why the framework
        has no such model.
        """
        order = json.dumps({"recipe": recipe.as_json(), "folder": str(folder), "forms": forms})
        with self._lock:
            process = self._started()
            assert process.stdin is not None and process.stdout is not None
            with contextlib.suppress(BrokenPipeError):  # it is at its end, and gives no answer either
                process.stdin.write(order + "\n")
                process.stdin.flush()
            answers, _, _ = select.select([process.stdout], [], [], SECONDS)
            line = process.stdout.readline() if answers else ""
            if not line:
                self.end()
                return f"{ENDED} " + ("ended" if answers else f"took more than {SECONDS:.0f} s")
        answer: dict[str, Any] = json.loads(line)
        if "problem" in answer:
            return str(answer["problem"])
        steps = tuple(tuple(shape) for shape in answer["steps"])
        return Written(tuple(answer["shape"]), steps, answer["text"])

    def end(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None

    def _started(self) -> subprocess.Popen[str]:
        if self._process is None:
            pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
            self._process = subprocess.Popen(self._command, cwd=ROOT, text=True, **pipes)
        return self._process


def forms_of(family: str, seed: int) -> list[str]:
    """In which forms the model of a seed is written."""
    recipe = Recipe(seed)
    chosen = [recipe.rng(f"form {number}").choice(group) for number, group in enumerate(FORMS[family])]
    return [form for form in chosen if form]


def jobs(drawer: Drawer, family: str, seeds: range, folder: Path, skipped: Counter[str]) -> Iterator[dict[str, Any]]:
    """A job for each file that the framework writes; `skipped` counts what it does not write."""
    for seed in seeds:
        place, forms = folder / str(seed), forms_of(family, seed)
        written = drawer.write(Recipe(seed), place, forms)
        if isinstance(written, str) and not written.startswith(ENDED):
            skipped[f"model: {written.split(':')[0]}"] += 1
            continue
        for form in forms:
            if (
                place / form / "case.json"
            ).is_file():  # a process that ended at one form may have written others before
                yield {"case": str(place / form), "seed": seed, "form": form}
            else:
                skipped[form if isinstance(written, Written) else f"{form}: {written}"] += 1


def shrink(drawer: Drawer, worker: Worker, job: dict[str, Any], verdict: Verdict, target: Path) -> str:
    """Leaves the case of the smallest model with the same fault in `target`; what may be read of that model."""
    recipe, form = Recipe(job["seed"]), job["form"]
    candidate = target.with_name("candidate")
    tries, known, best = 0, None, _drawn(drawer, recipe, form, candidate)
    while best is not None:
        shutil.rmtree(target, ignore_errors=True)
        (candidate / form).rename(target)
        known, best = best, None
        for smaller in recipe.smaller(list(known.steps), known.shape):
            tries += 1
            if tries > _TRIES:
                break
            found = _drawn(drawer, smaller, form, candidate)
            if found is not None and _same(worker.judge({"case": str(candidate / form)}), verdict):
                recipe, best = smaller, found
                break
    shutil.rmtree(candidate, ignore_errors=True)
    return f"{known.text if known else 'it cannot be drawn again'}\n{json.dumps(recipe.as_json())} as {form}"


def _drawn(drawer: Drawer, recipe: Recipe, form: str, folder: Path) -> Written | None:
    shutil.rmtree(folder, ignore_errors=True)
    written = drawer.write(recipe, folder, [form])
    there = (folder / form / "case.json").is_file()
    return written if isinstance(written, Written) and there else None


def _same(found: Verdict, verdict: Verdict) -> bool:
    return found.kind == verdict.kind and (found.kind != "refused" or found.signature == verdict.signature)
