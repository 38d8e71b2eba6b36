"""Cases of the operators in front of speech models; LiteRT says what comes out."""

from __future__ import annotations

from typing import Any

from flatbuffers import flexbuffers

from tests.importers.tflite.harness import Case, ints, random


def _spectrogram(size: int, hop: int, squared: bool, channels: int) -> Case:
    options = flexbuffers.Dumps({"window_size": size, "stride": hop, "magnitude_squared": squared})
    sound = random(700, channels, low=-1, high=1)
    return Case("AudioSpectrogram", (sound,), custom=bytes(options), atol=1e-4, rtol=1e-4)


def _cepstrum(**changed: Any) -> Case:
    options = {
        "upper_frequency_limit": 4000.0,
        "lower_frequency_limit": 20.0,
        "filterbank_channel_count": 20,
        "dct_coefficient_count": 10,
    }
    powers = random(2, 5, 257, low=0.0, high=9.0)
    rate = ints([16000])[0]
    return Case(
        "Mfcc", (powers, rate), constants=(1,), custom=bytes(flexbuffers.Dumps({**options, **changed})), atol=1e-4
    )


SIGNALS = [
    _spectrogram(256, 128, True, 1),
    _spectrogram(480, 160, True, 1),
    _spectrogram(100, 33, False, 2),
    _cepstrum(),
    _cepstrum(filterbank_channel_count=40, dct_coefficient_count=40, lower_frequency_limit=300.0),
    _cepstrum(upper_frequency_limit=8000.0),
]
