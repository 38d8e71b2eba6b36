"""The playground of the site, in headless Chromium."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.shared_folders import filled_once
from tests.wasm import browser
from tests.wasm.conftest import ROOT

_PAGE = "index.html"
_SHELL = """<!doctype html><meta charset="utf-8"><meta name="viewport" content="width=device-width"><body>"""
SAID = "(document.querySelector('#{} .play-said')?.textContent ?? '')"


@pytest.fixture(scope="session")
def playground(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page as it stands in docs/, with what the site's build adds, without the site around it."""

    def fill(folder: Path) -> None:
        source = ROOT / "docs" / "playground"
        for name in ("playground.mjs", "playground.css"):
            (folder / name).write_bytes((source / name).read_bytes())
        text = (source / "index.md").read_text(encoding="utf-8")
        (folder / _PAGE).write_text(_SHELL + text[text.index("<link") : text.index("</script>") + 9], encoding="utf-8")
        script: list[str | Path] = [sys.executable, ROOT / "scripts" / "playground.py", folder]
        subprocess.run(script, check=True, capture_output=True, cwd=ROOT)

    return filled_once(tmp_path_factory, "playground", fill)


@pytest.fixture
def page() -> Iterator[browser.Page]:
    if browser.program() is None:
        pytest.skip("Chromium is not installed")
    with browser.controlled() as opened:
        yield opened


@pytest.mark.slow
def test_each_module_is_below_150_kilobytes(playground: Path) -> None:
    about: dict[str, Any] = json.loads((playground / "playground.json").read_text())
    assert {"digits", "keywords"} <= set(about["libraries"])
    for name, facts in about["libraries"].items():
        module = (playground / facts["module"]).with_suffix(".wasm")
        assert module.stat().st_size == facts["wasm"] < 150_000, name
        assert (playground / facts["report"]).is_file()


@pytest.mark.slow
def test_the_networks_run_in_a_page(playground: Path) -> None:
    if browser.program() is None:
        pytest.skip("Chromium is not installed")
    found = browser.answer(playground, f"{_PAGE}?answer", 90)
    assert "problems" not in found
    assert found["digits"] == 3
    assert found["keywords"] == {"yes.wav": "yes", "ahoy.wav": "ahoy"}
    about = json.loads((playground / "playground.json").read_text())
    if "faces" in about["libraries"]:  # its model comes from a package index
        assert len(found["faces"]) == 1
        assert found["faces"][0] > 0.8
    assert all(0 < time < 1000 for time in found["milliseconds"].values())


@pytest.mark.slow
def test_a_visitor_draws_another_digit(playground: Path, page: browser.Page) -> None:
    with browser.served(playground) as (address, _):
        page.open(f"{address}/{_PAGE}", 1280, 1000)
        page.wait_for(f"{SAID.format('keywords')}.includes('yes')")
        page.evaluate("document.querySelector('#digits .play-clear').click()")
        assert page.evaluate(SAID.format("digits")).startswith("Draw")
        box = page.evaluate(
            "(() => { const box = document.querySelector('.play-pad').getBoundingClientRect();"
            " return [box.left, box.top, box.width / 256]; })()"
        )
        left, top, scale = box
        stroke = [(128, 30), (90, 70), (76, 130), (92, 190), (128, 222), (166, 190), (180, 130), (164, 70), (128, 30)]
        page.drag([(left + x * scale, top + y * scale) for x, y in stroke])
        page.wait_for(f"{SAID.format('digits')} === 'This is a 0.'")


@pytest.mark.slow
@pytest.mark.parametrize("width", [412, 1280])
def test_nothing_sticks_out(playground: Path, page: browser.Page, width: int) -> None:
    with browser.served(playground) as (address, _):
        page.open(f"{address}/{_PAGE}", width, 900)
        page.wait_for(f"{SAID.format('keywords')}.includes('yes')")
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
