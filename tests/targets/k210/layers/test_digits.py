"""Networks that read digits keep their accuracy: the table of docs/how-to/k210-layers.md, on fewer pictures."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.targets.k210.layers.digits import QUANTISERS, WEIGHTS, digits, mnist_like, scores

PAGE = Path(__file__).resolve().parents[4] / "docs" / "how-to" / "k210-layers.md"


@pytest.mark.slow
@pytest.mark.parametrize("large", [False, True], ids=["digits", "mnist_like"])
def test_every_quantiser_reads_digits(large: bool) -> None:
    model = mnist_like() if large else digits()
    if large:
        assert model.load_weights(WEIGHTS) == "order"
    found = scores(model, large, 60)
    assert found["float"] > 0.9
    assert min(found[name] for name in QUANTISERS) >= found["float"] - 0.05


@pytest.mark.sweep
def test_the_table_is_what_is_measured() -> None:
    large = mnist_like()
    large.load_weights(WEIGHTS)
    for name, found in (("digits, 8x8", scores(digits(), False)), ("MNIST-like, 28x28", scores(large, True))):
        told = re.search(rf"^\| {re.escape(name)} \| (.*) \|$", PAGE.read_text(), re.MULTILINE)
        assert told is not None
        shares = [float(share.rstrip("%")) for share in told[1].split(" | ")]
        assert shares == pytest.approx([100 * share for share in found.values()], abs=0.9)
