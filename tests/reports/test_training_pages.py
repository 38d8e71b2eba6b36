"""The pages of training and searches: their figures, charts and words."""

from __future__ import annotations

import json
import re
from typing import Any

from buildtool.reports import training
from buildtool.reports.html_page import data_of


def epoch(number: int, loss: float, accuracy: float, quantised: bool) -> dict[str, Any]:
    return {"number": number, "loss": loss, "accuracy": accuracy, "quantised": quantised}


EPOCHS = [epoch(0, 2.25, 0.31, False), epoch(1, 0.5, 0.95, False), epoch(2, 0.625, 0.9475, True)]
RUN = {"arch": "digits", "measure": "accuracy", "resumed": 1, "epochs": EPOCHS, "best": EPOCHS[2]}
TRIALS = [
    {"accuracy": 0.5, "arguments": {"width": 4}, "bits": {"a": 8, "b": 2}, "weight_bytes": 1500, "cycles": 900},
    {"accuracy": 0.75, "arguments": {"width": 8}, "bits": {"a": 8, "b": 8}, "weight_bytes": 3000, "cycles": 12345},
]


def test_a_run_of_training() -> None:
    data = data_of(training.of_fit(RUN))
    assert data["tiles"][0] == ["best accuracy", "94.75%", "epoch 3, quantised; of held-out samples"]
    assert data["tiles"][1] == ["epochs", "3", "1 of them by an earlier run"]
    accuracy, loss = data["curves"]
    assert accuracy["points"] == [[1, 0.31, "floats"], [2, 0.95, "floats"], [3, 0.9475, "quantised"]]
    assert accuracy["text"] == "From epoch 3 on, the network computes with the integers of the chip."
    assert [point[1] for point in loss["points"]] == [2.25, 0.5, 0.625]
    assert [[text for _, text in row] for row in data["table"]["rows"]][2] == ["3", "0.6250", "94.75%", "quantised"]


def test_a_run_without_an_epoch() -> None:
    data = data_of(training.of_fit({**RUN, "epochs": [], "best": None, "resumed": 0}))
    assert data["tiles"] == [["epochs", "0", ""]]
    assert all(curve["points"] == [] for curve in data["curves"])


def test_a_search() -> None:
    refused = {"its weights exceed --weight-memory": 3}
    data = data_of(training.of_search("digits", {"measure": "AUC", "trials": TRIALS, "refused": refused}))
    assert data["notes"] == ["3 did not fit: its weights exceed --weight-memory"]
    rows = [[text for _, text in row] for row in data["table"]["rows"]]
    assert rows == [
        ["75.00%", "width 8", "all 8 bits", "3,000", "12,345"],
        ["50.00%", "width 4", "a 8, b 2", "1,500", "900"],
    ]
    assert data["tiles"][0] == ["best AUC", "75.00%", "of samples that were held out for the search"]
    assert data["curves"][0]["title"] == "AUC and size"
    assert data["curves"][0]["points"][0] == [3000, 0.75, "all 8 bits"]
    assert data_of(training.of_search("digits", {"measure": "AUC", "trials": [], "refused": refused}))["curves"] == []


def test_the_bits_of_layers() -> None:
    found = {
        "sensitivity": {"conv": {"8": 0.0, "4": 0.0125}, "head": {"8": 0.0, "4": 0.25}},
        "bits": {"conv": 4, "head": 8},
        "weight_bytes": 2048,
        "cycles": 99,
        "measure": "mean IoU",
        "accuracy": 0.875,
    }
    data = data_of(training.of_bits("digits", found))
    assert data["tiles"][0] == ["mean IoU", "87.50%", "of the held-out samples, without training"]
    assert [title for title, _ in data["table"]["columns"]] == [
        "layer", "chosen", "loss with 8 bits", "loss with 4 bits",
    ]  # fmt: skip
    assert data["table"]["rows"][1] == [["head", "head"], [8, "8"], [0.0, "+0.0000"], [0.25, "+0.2500"]]


def test_names_are_never_markup() -> None:
    page = training.of_fit({**RUN, "arch": "</script><b>x", "measure": "<i>"}).decode()
    assert "<b>x" not in page
    assert "<i>" not in page
    assert json.loads(re.findall(r'id="data">(.*?)</script>', page)[0])["tiles"][0][0] == "best <i>"
