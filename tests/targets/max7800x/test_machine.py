"""The model of the accelerator: known answers from what was written alone, and complaints about what makes no sense."""

from __future__ import annotations

import pytest

from tests.targets.max7800x.known_answers import NAMES, KnownAnswer, exist
from tests.targets.max7800x.machine import FIFO, Script


def script_of(known: KnownAnswer) -> Script:
    """The accesses of the known answer's program, up to the interrupt."""
    told = known.expected
    registers = {
        function: [(int(address, 16), value) for address, value in writes]
        for function, writes in told["register_writes"].items()
    }
    made = Script()
    made.write_all(registers["cnn_init"])
    for address, content in told["kernels"]:
        made.express(int(address, 16), bytes.fromhex(content))
    for address, quadrant in told["bias_addr"]:
        made.write_words(int(address, 16), told["bias"][f"BIAS_{quadrant}"])
    made.write_all(registers["cnn_configure"])
    for address, channel, _ in told["input_dst"]:
        made.write_words(int(address, 16), told["input"][f"SAMPLE_INPUT_{channel}"])
    made.write_all(registers["cnn_start"])
    if not told["input_dst"]:  # through the FIFO, once the network runs
        for name, words in told["input"].items():
            made.write_all((FIFO + 4 * int(name.removeprefix("SAMPLE_INPUT_")), word) for word in words)
    made.wait()
    return made


@exist
@pytest.mark.parametrize("name", NAMES)
def test_the_machine_computes_the_known_answers(name: str) -> None:
    known = KnownAnswer(name)
    script = script_of(known)
    wanted = known.expected_words()
    for address in wanted:
        script.read(address)
    outcome = script.run()
    assert outcome.interrupts == 1
    assert outcome.complaints == ()
    assert [word & mask for word, (mask, _) in zip(outcome.words, wanted.values(), strict=True)] == [
        word & mask for mask, word in wanted.values()
    ]
