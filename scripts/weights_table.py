"""Builds networks of the zoo with their weights stored in every form, and prints the table of docs/how-to/weights.md.

python scripts/weights_table.py FOLDER [NETWORK ...]

Bytes are those of the planned data file for the host; the cosine is the worst that `lathe validate` finds against
onnxruntime; the time of creation is the least of 15, with the forms in turn and the files in the cache of the system.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import buildtool
from buildtool.drafts import deployment
from buildtool.runtime import Library
from tests.zoo.networks import cached

ROOT = Path(__file__).resolve().parents[1]
FORMS = {
    "f32": ("fp32_fp32", "0"),
    "f16": ("fp16_fp32", "0"),
    "bf16": ("bf16_fp32", "0"),
    "int16": ("fp16_fp32", "int16"),
    "int8": ("fp16_fp32", "int8"),
    "int4": ("fp16_fp32", "int4"),
}
_TIMES = 15


def built(network: str, form: str, folder: Path) -> tuple[buildtool.BuildReport, float]:
    """The build, and the worst cosine similarity of its outputs."""
    data_type, large = FORMS[form]
    folder.mkdir(parents=True, exist_ok=True)
    text = deployment.write([cached(network, ROOT / "build" / "test-zoo", 224, 1.0)], relative_to=folder)
    key = f"data_type: {data_type}\n    quantize_large_weights: {large}\n    validation_threshold: {{cpu: 0.0}}"
    file = folder / "deploy.yml"
    file.write_text(text.replace("data_type: fp16_fp32", key), encoding="utf-8")
    options = buildtool.Options(folder)
    report = buildtool.build(file, options=options)
    checked = buildtool.validate(file, options=options, settings=buildtool.RunSettings(kinds=("shared",)))
    return report, min(result["cosine"] for result in checked.results)


def rows(network: str, folder: Path) -> list[str]:
    """A row for each form."""
    reports = {form: built(network, form, folder / network / form) for form in FORMS}
    files, least = {}, dict.fromkeys(FORMS, float("inf"))
    for form, (report, _) in reports.items():
        (model,) = (report.folder / "model" / "host").glob("*.pb")
        library = Library(report.folder / next(item.shared for item in report.libraries))
        files[form] = (library, model, model.with_suffix(".data"))
    for _ in range(_TIMES):
        for form, (library, model, data) in files.items():
            start = time.perf_counter()
            library.engine(model=model, data=data, threads=1)
            least[form] = min(least[form], time.perf_counter() - start)
    lines = []
    for form, (_, cosine) in reports.items():
        size = files[form][2].stat().st_size
        share = size / files["f32"][2].stat().st_size
        lines.append(f"| {network} | {form} | {size:,} | {share:.2f} | {cosine:.6f} | {least[form] * 1000:.1f} |\n")
    return lines


if __name__ == "__main__":
    sys.stdout.write("| network | form | bytes | of f32 | cosine | ms to create |\n|---|---|---:|---:|---:|---:|\n")
    for name in sys.argv[2:] or ["mobilenet_v2", "squeezenet_v11"]:
        sys.stdout.write("".join(rows(name, Path(sys.argv[1]))))
