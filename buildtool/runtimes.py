"""What a model can run on: the words of the deployment key `runtime`, and what each of them means for a model."""

from __future__ import annotations

import enum

#: Every way to store and to compute, in the order in which messages list them.
DATA_TYPES = ("fp16_fp32", "fp32_fp32", "bf16_fp32", "fp16_fp16", "uint8")


class Runtime(enum.Enum):
    """The value is the word in deployment files and in reports. Code compares members and asks for properties."""

    CPU = "cpu"
    GPU = "gpu"
    DSP = "dsp"
    CPU_GPU = "cpu+gpu"
    HTA = "hta"
    APU = "apu"
    HTP = "htp"
    KPU = "kpu"
    CNN = "cnn"

    def __str__(self) -> str:
        return self.value

    @property
    def uses_gpu(self) -> bool:
        """Whether parts of the model may run on a GPU."""
        return self in (Runtime.GPU, Runtime.CPU_GPU)

    @property
    def uses_cpu(self) -> bool:
        """Whether nodes run on the CPU although an accelerator could run them."""
        return self in (Runtime.CPU, Runtime.CPU_GPU)

    @property
    def data_types(self) -> tuple[str, ...]:
        """The values of `data_type` that a model may have."""
        without = {"bf16_fp32", "uint8"} if self.uses_gpu else set() if self is Runtime.DSP else {"uint8"}
        return tuple(word for word in DATA_TYPES if word not in without)

    @property
    def threshold(self) -> str:
        """Whose entry of `validation_threshold` holds: the device that computes least exactly decides."""
        return Runtime.GPU.value if self.uses_gpu else self.value
