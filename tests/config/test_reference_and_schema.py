"""What is written down for people and editors is what the code does."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from buildtool.config import description_schema, json_schema, load_deployment, load_devices, schema_text
from buildtool.config.models import DeploymentSection, GraphSection, sections
from buildtool.config.reference import documented_keys, tables, updated_page
from buildtool.errors import ConfigError
from buildtool.sections.section import is_dead, names_of
from buildtool.targets.max7800x.description.keys import LayerKeys

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "deployment-file.md"
GOOD = sorted((Path(__file__).parent / "good").glob("*.yml"))


def test_schema_describes_every_key() -> None:
    schema = json_schema()
    for section in (schema, *schema["$defs"].values()):
        for key, value in section["properties"].items():
            assert value.get("description"), key
        assert section["additionalProperties"] is False
    assert set(schema["$defs"]["SubgraphSection"]["properties"]) == set(sections().subgraph.model_fields)
    assert '"null"' not in schema_text() and "x-" not in "".join(_keywords(schema))
    assert schema["$defs"]["ModelSection"]["properties"]["runtime"]["default"] == "cpu"
    assert schema["$defs"]["ModelSection"]["properties"]["dsp_mode"]["deprecated"] is True


def test_schema_of_descriptions_has_every_key_under_each_name() -> None:
    schema = description_schema("ai8x")
    layer = schema["$defs"]["LayerKeys"]["properties"]
    assert set(layer) == set(names_of(LayerKeys))
    assert layer["op"] == layer["operation"] and all(value.get("description") for value in layer.values())
    assert schema["required"] == ["arch", "dataset", "layers"]
    assert "x-" not in "".join(_keywords(schema)) and schema["$defs"]["LayerKeys"]["additionalProperties"] is False
    with pytest.raises(ConfigError, match="no network descriptions of the platform 'ai8'"):
        description_schema("ai8")


def _keywords(node: Any) -> list[str]:
    if isinstance(node, list):
        return [word for item in node for word in _keywords(item)]
    if isinstance(node, dict):
        return [*(key for key in node if key.startswith("x-")), *(w for item in node.values() for w in _keywords(item))]
    return []


def test_page_asks_for_all_tables_and_gets_them() -> None:
    source = PAGE.read_text(encoding="utf-8")
    page = updated_page(source)
    assert updated_page(page) == page
    for name, table in tables().items():
        assert f"<!-- keys: {name} -->\n<!-- end of keys -->" in source, "tables are not committed"
        assert f"<!-- keys: {name} -->\n\n{table}" in page


def test_every_key_is_in_a_table() -> None:
    living = {key for key in GraphSection.model_fields if not is_dead(GraphSection, key)}
    assert documented_keys() == living
    page = updated_page(PAGE.read_text(encoding="utf-8"))
    for key in (*GraphSection.model_fields, *DeploymentSection.model_fields):
        assert f"`{key}`" in page


@pytest.mark.parametrize("index", [0, -1])
def test_examples_of_the_page_load(index: int, tmp_path: Path) -> None:
    blocks = re.findall(r"```yaml\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    path = tmp_path / "file.yml"
    path.write_text(blocks[index])
    assert load_deployment(path).deployment.models if index == 0 else load_devices(path)
