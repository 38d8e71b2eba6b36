"""The documentation keeps to docs/style.md, as far as a search can find out."""

from __future__ import annotations

import re
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
#: The page that lists what not to write.
STYLE = DOCS / "style.md"
BANNED = re.compile(
    r"\b(becomes? of|stands? in for|(is|are|were|was) told|numbers that are none|the very)\b", re.IGNORECASE
)
#: What messages for users must not contain, in addition.
BANNED_IN_MESSAGES = re.compile(
    rf"{BANNED.pattern}|\b(nobody|whoever|mended|cannot be had|whole numbers?|(your|its|their) own way"
    r"|stands? (inside|beside|directly)|(?<!there )is no (list|array|file|text|size|range))\b",
    re.IGNORECASE,
)
#: The folders with programs whose messages are searched, and the endings of their sources.
PROGRAMS = {"buildtool": ("py",), "native": ("cc", "h", "c")}
SHELVES = ("tutorials", "how-to", "reference", "explanation")


def _pages() -> list[Path]:
    return sorted(page for page in [*ROOT.glob("*.md"), *DOCS.rglob("*.md")] if page != STYLE)


def test_no_page_has_a_phrase_that_the_style_excludes() -> None:
    found = [
        f"{page.relative_to(ROOT)}:{number}: {match[0]}"
        for page in _pages()
        for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), 1)
        for match in BANNED.finditer(line)
    ]
    assert found == []


def test_no_message_has_a_phrase_that_the_style_excludes() -> None:
    found, count = [], 0
    for file in (
        file for top, endings in PROGRAMS.items() for end in endings for file in (ROOT / top).rglob(f"*.{end}")
    ):
        text = re.sub(r'""".*?"""', "", file.read_text(encoding="utf-8"), flags=re.DOTALL)  # without docstrings
        for message in re.findall(r'"(?:[^"\\\n]|\\.)* (?:[^"\\\n]|\\.)*"', text):
            count += 1
            found += [
                f"{file.relative_to(ROOT)}: {match[0]}: {message}" for match in BANNED_IN_MESSAGES.finditer(message)
            ]
    assert count > 4000
    assert found == []


def test_every_shelf_has_pages_and_every_page_one_title() -> None:
    assert all(list((DOCS / shelf).glob("*.md")) for shelf in SHELVES)
    for page in DOCS.rglob("*.md"):
        text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
        assert len(re.findall(r"^# ", text, re.MULTILINE)) == 1, page
        assert text.startswith("# "), page


def test_diagrams_need_no_network() -> None:
    images = list((DOCS / "images").glob("*.svg"))
    assert images
    for image in images:
        addresses = set(re.findall(r"https?://[^\"']+", image.read_text(encoding="utf-8")))
        assert addresses == {"http://www.w3.org/2000/svg"}, image


def test_navigation_has_the_four_shelves() -> None:
    text = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    navigation = yaml.safe_load(text)["nav"]
    titles = [next(iter(entry)) for entry in navigation]
    assert titles[:5] == ["Home", "Tutorials", "How-to guides", "Reference", "Explanation"]
