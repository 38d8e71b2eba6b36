"""Libraries whose threads are workers, and the index that chooses among the forms of a library."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from buildtool.builders import wasm
from buildtool.codegen.wasm import WasmLibrary, package_files
from buildtool.devices import node
from buildtool.reports.documents import BuildReport
from buildtool.settings import Options, RunSettings
from buildtool.workflow import running
from tests.wasm import browser
from tests.wasm.conftest import DIGITS

HERE = Path(__file__).parent
ONE, THREADS = "wasm32-simd", "wasm32-relaxed-simd-threads"


def picture(folder: Path) -> None:
    pixels = np.load(DIGITS / "test.npz")["pictures"][0].ravel() / 16
    (folder / "picture.json").write_text(json.dumps(pixels.tolist()))


def check(said: dict[str, Any], threads: int) -> None:
    """Every form computes the digit, threads change nothing, and there are as many as there should be."""
    assert "problem" not in said, said["problem"]
    label = np.load(DIGITS / "test.npz")["labels"][0]
    one, relaxed, several = said["outputs"].values()
    assert all(int(np.argmax(values)) == label for values in (one, relaxed, several))
    assert relaxed == several
    np.testing.assert_allclose(one, relaxed, rtol=1e-4, atol=1e-6)
    assert said["threads"] == {f"{ONE} 1": 1, f"{THREADS} 1": 1, f"{THREADS} 3": threads}


def test_threads_in_node(digits: BuildReport, tmp_path: Path) -> None:
    picture(tmp_path)
    script = f"import {{use}} from '{HERE / 'use_threads.mjs'}'; import {{readFileSync}} from 'node:fs';"
    script += f"const image = Float32Array.from(JSON.parse(readFileSync('{tmp_path / 'picture.json'}')));"
    script += f"console.log(JSON.stringify(await use('{digits.folder}', image)));"
    (tmp_path / "app.mjs").write_text(script)
    done = subprocess.run(
        [*node.launcher(THREADS), tmp_path / "app.mjs"], capture_output=True, text=True, check=False, timeout=60
    )
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    check(said, 3)
    assert said["chosen"] == THREADS


def test_the_number_of_threads_is_that_of_the_command(digits: BuildReport) -> None:
    file, options = digits.folder.parent.parent / "deploy.yml", Options(output=digits.folder.parent)
    ran = running.run(file, options=options, settings=RunSettings(threads=2))
    found = {(run["abi"], run["threads"]) for run in ran.runs}
    assert (THREADS, 2) in found


@pytest.mark.slow
@pytest.mark.parametrize("isolated", [True, False])
def test_threads_in_a_page(digits: BuildReport, tmp_path: Path, isolated: bool) -> None:
    """A page that is not isolated has one thread, and the index takes a form without threads."""
    if browser.program() is None:
        pytest.skip("Chromium is not installed")
    picture(tmp_path)
    folders = {"/digits/": digits.folder, "/picture/": tmp_path}
    said = browser.answer(HERE, "threads.html", 60, folders, isolated=isolated)
    check(said, 3 if isolated else 1)
    assert said["isolated"] is isolated
    assert said["chosen"] == (THREADS if isolated else ONE)


def test_a_module_with_threads_takes_the_memory_of_the_page(digits: BuildReport) -> None:
    assert wasm.shared_pages(digits.file_of(THREADS, "shared")) > 4
    assert wasm.shared_pages(digits.file_of(ONE, "shared")) == 0
    assert (digits.folder / f"lib/{THREADS}/digits.worker.mjs").is_file()
    assert not (digits.folder / f"lib/{ONE}/digits.worker.mjs").exists()


def test_the_index_tries_the_best_form_first() -> None:
    files = package_files([WasmLibrary("Net", "net", "net", abi, {}) for abi in wasm.ABIS])
    index = files["index.mjs"].decode()
    places = [index.index(f'["{abi}"') for abi in wasm.ABIS]
    order = sorted(wasm.ABIS, key=lambda abi: places[wasm.ABIS.index(abi)])
    assert order == ["wasm32-relaxed-simd-threads", "wasm32-simd-threads", "wasm32-relaxed-simd", ONE, "wasm32"]
    document = json.loads(files["package.json"])
    assert document["exports"]["."] == {"types": "./index.d.ts", "default": "./index.mjs"}
    assert {"index.mjs", "index.d.ts"} < set(document["files"])
    assert document["name"] == "net"
    alone = package_files([WasmLibrary("Net", "net", "net", ONE, {})])
    assert list(alone) == ["package.json"]
    assert json.loads(alone["package.json"])["main"] == "./lib/wasm32-simd/net.mjs"


def test_bundlers_find_every_file(digits: BuildReport) -> None:
    """Files are named by literal addresses, no other one looks like that, and no bundler follows what Node has."""
    for abi in (ONE, THREADS):
        for file in (digits.folder / "lib" / abi).glob("*.mjs"):
            text = file.read_text()
            named = re.findall(r"new URL\(\s*([^,]+), import\.meta\.url\)", text)
            assert all((file.parent / name.strip("'")).is_file() for name in named), named
            assert len(named) == text.count(", import.meta.url)")
            assert text.count("'node:") == text.count("import(/* webpackIgnore: true */ /* @vite-ignore */ 'node:")
