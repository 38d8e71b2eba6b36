"""What a model can run on: the words of the deployment key `runtime`, and what each of them means for a model."""

from __future__ import annotations

from typing import ClassVar

#: Every way to store and to compute, in the order in which messages list them.
DATA_TYPES = ("fp16_fp32", "fp32_fp32", "bf16_fp32", "fp16_fp16", "uint8")


class Runtime(str):
    """A word in deployment files and in reports. Code compares with the constants and asks for properties.

    Targets bring words of their own, which mean what the properties say of others.
    """

    CPU: ClassVar[Runtime]
    GPU: ClassVar[Runtime]
    CPU_GPU: ClassVar[Runtime]
    DSP: ClassVar[Runtime]
    CPU_DSP: ClassVar[Runtime]
    HTA: ClassVar[Runtime]
    APU: ClassVar[Runtime]
    HTP: ClassVar[Runtime]
    KPU: ClassVar[Runtime]
    CNN: ClassVar[Runtime]

    __slots__ = ()

    @property
    def uses_gpu(self) -> bool:
        """Whether parts of the model may run on a GPU."""
        return self in (Runtime.GPU, Runtime.CPU_GPU)

    @property
    def uses_dsp(self) -> bool:
        """Whether parts of the model may run on a DSP."""
        return self in (Runtime.DSP, Runtime.CPU_DSP)

    @property
    def uses_cpu(self) -> bool:
        """Whether nodes run on the CPU although an accelerator could run them."""
        return self in (Runtime.CPU, Runtime.CPU_GPU, Runtime.CPU_DSP)

    @property
    def data_types(self) -> tuple[str, ...]:
        """The values of `data_type` that a model may have."""
        without = {"bf16_fp32", "uint8"} if self.uses_gpu else set() if self.uses_dsp else {"uint8"}
        return tuple(word for word in DATA_TYPES if word not in without)

    @property
    def threshold(self) -> str:
        """Whose entry of `validation_threshold` holds: the device that computes least exactly decides."""
        return str(Runtime.GPU if self.uses_gpu else Runtime.DSP if self.uses_dsp else self)


Runtime.CPU = Runtime("cpu")
Runtime.GPU = Runtime("gpu")
Runtime.CPU_GPU = Runtime("cpu+gpu")
Runtime.DSP = Runtime("dsp")
Runtime.CPU_DSP = Runtime("cpu+dsp")
Runtime.HTA = Runtime("hta")
Runtime.APU = Runtime("apu")
Runtime.HTP = Runtime("htp")
Runtime.KPU = Runtime("kpu")
Runtime.CNN = Runtime("cnn")


#: Words of kernel names for instruction sets that only some machines of an ABI have.
INSTRUCTION_SETS = ("vnni", "avx512", "avx2", "i8mm", "dotprod", "fp16", "neonv7", "rvv")

#: Versions of the Hexagon DSP that programs are built for.
HEXAGON_VERSIONS = ("v65", "v66", "v68")

#: What `hexagon_power` may ask of it. The places are the numbers of lathe_device_options.dsp_power.
HEXAGON_POWERS = ("default", "release", "turbo", "nom_plus", "nominal", "svs_plus", "svs", "svs2")
