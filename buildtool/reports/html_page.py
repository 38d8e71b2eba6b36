"""Pages of HTML that need no network and nothing beside them.

A page holds its data as JSON and draws it itself. Text from models reaches the page only inside that JSON, where
nothing can end the element that holds it, and from there only as text nodes.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Sequence
from typing import Any

import jinja2
import markupsafe

#: What pages are made of besides the files of their own name, which come last.
_PARTS = {
    "graph_page": ("common", "graph_pane"),
    "build_page": ("common", "charts", "live"),
    "comparison_page": ("common", "charts"),
    "sensitivity_page": ("common", "charts"),
    "training_page": ("common", "charts"),
}
_SHARED = ("common",)


def render(stem: str, name: str, data: Any, inner: Sequence[str] = (), module: str = "") -> bytes:
    """The page of the templates `<stem>.html.j2`, `<stem>.css` and `<stem>.js`, behind what pages share. Reproducible.

    `inner`: the stems of pages that stand inside of this one, as texts in its data. `module`: a script of this page
    alone, an ES module, which may compile WebAssembly.
    """
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("buildtool.reports"),
        undefined=jinja2.StrictUndefined,
        keep_trailing_newline=True,
        autoescape=True,
    )
    style, script = (_whole(environment, stem, kind) for kind in ("css", "js"))
    styles, scripts = (
        " ".join(f"'{_hash(_whole(environment, part, kind))}'" for part in (stem, *inner)) for kind in ("css", "js")
    )
    if "</script" in module.lower():
        raise ValueError("a script that ends its own element")
    html = environment.get_template(f"{stem}.html.j2").render(
        name=name,
        style=style,
        script=script,
        style_hash=markupsafe.Markup(styles),
        script_hash=markupsafe.Markup(f"{scripts} '{_hash(module)}'" if module else scripts),
        module=module,
        data=_json(data),
    )
    return html.encode("utf-8", "backslashreplace")


def data_of(page: bytes) -> Any:
    """What a page of `render` holds. ValueError where it is none."""
    found = re.search(rb'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)
    if found is None:
        raise ValueError("this page contains no data")
    return json.loads(found[1])


def _whole(environment: jinja2.Environment, stem: str, kind: str) -> str:
    """The style or the script of a page. Parts without a style have none."""
    assert environment.loader is not None
    there = environment.loader.list_templates()
    names = [f"{part}.{kind}" for part in (*_PARTS.get(stem, _SHARED), stem)]
    return "".join(environment.loader.get_source(environment, name)[0] for name in names if name in there)


def _hash(text: str) -> str:
    """What the page's policy names: no other script or style runs, wherever it might come from."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _json(data: Any) -> str:
    """JSON that cannot end the script element that holds it, in ASCII: a lone surrogate stays harmless, too."""
    text = json.dumps(data, ensure_ascii=True, separators=(",", ":"), sort_keys=True)
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")
