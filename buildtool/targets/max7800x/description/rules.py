"""What the keys of one layer may not say together, and what a device does not have. Sizes and places come later."""

from __future__ import annotations

from collections.abc import Callable

from buildtool.targets.max7800x.description.chosen import Chosen
from buildtool.targets.max7800x.description.sections import Findings
from buildtool.targets.max7800x.devices import MAX78002, PROCESSORS, PROCESSORS_PER_MEMORY, Device
from buildtool.targets.max7800x.network import STOP

LARGEST_POOL = 16
LARGEST_PAD = 2
MOST_OPERANDS_BEFORE_POOL = 2
LONGEST_STRETCHED = 8  # taps of a dilated kernel beyond its first that fit into one column of 9 bytes
LONGEST_DILATED = 3

# Keys that the MAX78000 does not have, where they are worth more than this.
_ONLY_LARGER = {
    "groups": 1,
    "in_skip": 0,
    "bypass": False,
    "calcx4": False,
    "readahead": False,
    "snoop_sequence": None,
}


def check_layer(chosen: Chosen, device: Device, findings: Findings) -> None:
    """Everything that is wrong with one layer on its own."""
    for rule in _RULES:
        rule(chosen, device, findings)


def _operation(chosen: Chosen, device: Device, findings: Findings) -> None:
    section = chosen.section
    work = section.get("operation")
    if "eltwise" in section and work is not None and work.eltwise not in (None, section.get("eltwise")):
        findings.refuse(
            section,
            "eltwise",
            f"`eltwise` and `{section.called('operation')}` ask for different operations",
        )
    if chosen.eltwise is None and "operands" in section and section.knows("eltwise", "operation"):
        findings.refuse(
            section,
            "operands",
            "`operands` needs an element-wise operation",
            remedy="write `eltwise: add`",
        )
    if chosen.eltwise is not None and chosen.operation == "conv1d":
        findings.refuse(
            section,
            "eltwise",
            "an element-wise operation cannot come before a one-dimensional convolution",
            remedy="write a separate layer for it",
        )
    if chosen.operation == "none" and section.get("activate"):
        findings.refuse(
            section,
            "activate",
            f"`{section.called('activate')}` needs a convolution",
            rule="the accelerator activates the sums of convolutions only",
            remedy="activate in the layer before, or use a convolution with a kernel of 1x1",
        )
    if chosen.operation == "none" and section.get("output_shift", 0):
        findings.refuse(section, "output_shift", "`output_shift` needs a convolution")


def _kernel(chosen: Chosen, device: Device, findings: Findings) -> None:
    section = chosen.section
    written: tuple[int, ...] | None = section.get("kernel_size")
    if written is None:
        return
    shown = "x".join(map(str, written))
    allowed = {"conv2d": "3x3 or 1x1", "convtranspose2d": "3x3", "conv1d": "1 to 9"}.get(chosen.operation)
    if allowed is None:
        findings.refuse(
            section,
            "kernel_size",
            f"`kernel_size` has no meaning for {_called(chosen)}",
            remedy="remove it",
        )
    elif chosen.operation == "conv1d":
        if not (1 <= written[0] <= 9 and written[1:] in ((), (1,))):
            findings.refuse(section, "kernel_size", f"`kernel_size` cannot be {shown} in one dimension", rule=allowed)
    elif written not in ((3, 3), (1, 1)[: 2 * (chosen.operation == "conv2d")]):
        findings.refuse(section, "kernel_size", f"`kernel_size` cannot be {shown}", rule=f"allowed: {allowed}")


def _called(chosen: Chosen) -> str:
    names = {"linear": "a fully connected layer", "none": "a layer without a convolution"}
    return names.get(chosen.operation, f"the operation {chosen.operation}")


def _padding(chosen: Chosen, device: Device, findings: Findings) -> None:
    section, pad = chosen.section, chosen.pad[0]
    if not section.knows("pad", "kernel_size", "operation"):
        return
    if chosen.operation == "none":
        if pad:
            findings.refuse(section, "pad", f"`pad` cannot be {pad} without a convolution", rule="it is 0")
    elif pad > LARGEST_PAD:
        findings.refuse(section, "pad", f"`pad` cannot be {pad}", rule=f"allowed: 0 to {LARGEST_PAD}")
    elif pad >= chosen.kernel_size[0]:
        default = "" if "pad" in section else " (the default)"
        findings.refuse(
            section,
            "pad",
            f"`pad` of {pad}{default} is not below the size of the kernel, {chosen.kernel_size[0]}",
            remedy="write `pad: 0`" if chosen.kernel_size[0] == 1 else "",
        )
    if "output_pad" in section:
        wanted = int(chosen.operation == "convtranspose2d")
        if chosen.output_pad[0] != wanted:
            what = f"`output_pad` cannot be {chosen.output_pad[0]}"
            findings.refuse(section, "output_pad", what, rule=f"it is {wanted} for {_called(chosen)}")


def _stride(chosen: Chosen, device: Device, findings: Findings) -> None:
    section = chosen.section
    written = section.get("stride")
    if written is None:
        return
    shown = "x".join(map(str, dict.fromkeys(written)))
    wanted = 2 if chosen.operation == "convtranspose2d" else 1
    if written != (wanted, wanted):
        findings.refuse(
            section,
            "stride",
            f"`stride` cannot be {shown} for {_called(chosen)}",
            rule=f"it is {wanted}",
            remedy="" if wanted == 2 else "`pool_stride` of the next layer leaves out rows and columns",
        )


def _dilation(chosen: Chosen, device: Device, findings: Findings) -> None:
    section, dilation = chosen.section, chosen.dilation[0]
    if "dilation" not in section or section.get("dilation") == (1, 1):
        return
    most = device.largest_side
    if chosen.operation != "conv1d":
        findings.refuse(section, "dilation", "`dilation` above 1 needs a one-dimensional convolution")
    elif chosen.kernel_size[0] == 1:
        findings.refuse(section, "dilation", "`dilation` above 1 needs a kernel longer than 1")
    elif dilation > most:
        findings.refuse(section, "dilation", f"`dilation` cannot be {dilation}", rule=f"allowed: 1 to {most}")
    elif (chosen.kernel_size[0] - 1) * dilation > LONGEST_STRETCHED:
        _wide_dilation(chosen, findings)


def _wide_dilation(chosen: Chosen, findings: Findings) -> None:
    """Kernels that do not fit into one column when stretched are computed by the hardware of two dimensions."""
    section = chosen.section
    rule = f"a kernel that spans more than {LONGEST_STRETCHED + 1} values when dilated runs as one of two dimensions"
    if chosen.kernel_size[0] > LONGEST_DILATED:
        findings.refuse(
            section,
            "dilation",
            f"a kernel of {chosen.kernel_size[0]} cannot have a `dilation` of {chosen.dilation[0]}",
            rule=f"{rule}, and has at most {LONGEST_DILATED}",
        )
    if chosen.pool is not None and chosen.pool.size[0] > 1:
        findings.refuse(section, "dilation", f"no pool can come before a `dilation` of {chosen.dilation[0]}", rule=rule)
    if chosen.pad[0]:
        findings.refuse(section, "pad", f"`pad` must be 0 with a `dilation` of {chosen.dilation[0]}", rule=rule)
    for key in ("bypass", "flatten", "readahead", "streaming"):
        if section.get(key, False):
            findings.refuse(section, key, f"`{key}` cannot have a `dilation` of {chosen.dilation[0]}", rule=rule)


def _pools(chosen: Chosen, device: Device, findings: Findings) -> None:
    section, pool = chosen.section, chosen.pool
    if "max_pool" in section and "avg_pool" in section:
        findings.refuse(section, "avg_pool", "`max_pool` and `avg_pool` are both given", remedy="keep one of the two")
    pools = pool is not None and max(pool.size) > 1
    if "pool_dilation" in section and "max_pool" not in section and "avg_pool" not in section:
        findings.refuse(section, "pool_dilation", "`pool_dilation` needs a pool")
    if not section.get("pool_first", True) and not (pools and chosen.eltwise):
        findings.refuse(
            section, "pool_first", "`pool_first: false` needs a pool and an element-wise operation", remedy="remove it"
        )
    elif not section.get("pool_first", True) and chosen.operands > MOST_OPERANDS_BEFORE_POOL:
        findings.refuse(
            section,
            "operands",
            f"`pool_first: false` cannot have {chosen.operands} operands",
            rule=f"at most {MOST_OPERANDS_BEFORE_POOL}",
        )
    if pool is None:
        return
    most = {"max_pool": LARGEST_POOL, "avg_pool": LARGEST_POOL, "pool_stride": LARGEST_POOL}
    most["pool_dilation"] = LARGEST_POOL if device is MAX78002 else 1
    for key, limit in most.items():
        if max(section.get(key, (1, 1))) > limit:
            shown = "x".join(map(str, dict.fromkeys(section.get(key))))
            rule = f"1 to {limit} on the {device.part}" if limit > 1 else f"it is 1 on the {device.part}"
            findings.refuse(section, key, f"`{key}` cannot be {shown}", rule=rule)
    if pool.stride[0] != pool.stride[1] and chosen.operation not in ("conv1d", "none"):
        shown = f"{pool.stride[0]}x{pool.stride[1]}"
        findings.refuse(
            section, "pool_stride", f"`pool_stride` cannot be {shown}", rule="one stride for both dimensions"
        )


def _flatten(chosen: Chosen, device: Device, findings: Findings) -> None:
    section = chosen.section
    if not section.get("flatten", False):
        return
    if chosen.operation not in ("linear", "conv2d") or chosen.kernel_size != (1, 1):
        findings.refuse(
            section, "flatten", f"`flatten` does not work with {_called(chosen)}", remedy="write `op: linear`"
        )
    if chosen.pool is not None and max(chosen.pool.size) > 1:
        findings.refuse(section, "flatten", "`flatten` and a pool cannot share a layer", remedy="pool one layer before")
    if section.get("streaming", False):
        findings.refuse(section, "flatten", "`flatten` and `streaming` cannot share a layer")


def _output(chosen: Chosen, device: Device, findings: Findings) -> None:
    section = chosen.section
    if section.get("output_width", 8) != 8:
        if section.get("activate"):
            findings.refuse(
                section,
                "output_width",
                "`output_width: 32` puts out bare sums",
                rule=f"with `{section.called('activate')}` it is 8",
                remedy="write `activate: none`",
            )
        if chosen.operation == "none":
            findings.refuse(section, "output_width", "`output_width: 32` needs a convolution")


def _placed(chosen: Chosen, device: Device, findings: Findings) -> None:
    section = chosen.section
    if section.get("data_format", False):
        mask = section.get("processors", 0)
        for first in range(0, PROCESSORS, PROCESSORS_PER_MEMORY):
            if (mask >> first & 0xF).bit_count() > 1:
                findings.refuse(
                    section,
                    "processors",
                    f"of the processors {first} to {first + 3} more than one reads planes (`data_format: CHW`)",
                    rule="the four share one memory, which holds one plane",
                    remedy="use processors 0, 4, 8, ...",
                )
                break
    for key in ("in_offset", "out_offset"):
        if section.get(key, 0) >= device.data_bytes * 4:
            findings.refuse(
                section,
                key,
                f"`{key}` of {section.get(key):#x} is outside of the data memory",
                rule=f"below {device.data_bytes * 4:#x} on the {device.part}",
            )


def _device(chosen: Chosen, device: Device, findings: Findings) -> None:
    section = chosen.section
    remedy = "build for max78002, or remove the key"
    if device is not MAX78002:
        for key, value in _ONLY_LARGER.items():
            if section.get(key, value) != value:
                findings.refuse(
                    section,
                    key,
                    f"the {device.part} has no `{section.called(key)}`",
                    rule="the MAX78002 does",
                    remedy=remedy,
                )
        if section.get("quantization") == -1:
            findings.refuse(
                section,
                "quantization",
                f"the {device.part} has no binary weights of -1 and +1",
                remedy="write 1, 2, 4 or 8",
            )
        if chosen.next_layer not in (None, STOP, chosen.index + 1):
            findings.refuse(
                section,
                "next_sequence",
                f"the {device.part} runs its layers in the order of the description",
                rule="the MAX78002 does",
                remedy=remedy,
            )


def _buffers(chosen: Chosen, device: Device, findings: Findings) -> None:
    section = chosen.section
    if "buffer_shift" in section:
        if chosen.operation != "none":
            findings.refuse(section, "buffer_shift", "`buffer_shift` is for layers without a convolution")
        if "in_sequences" not in section:
            findings.refuse(section, "buffer_shift", "`buffer_shift` needs `in_sequences` with the name of the buffer")
    if "buffer_insert" in section and "out_offset" not in section:
        findings.refuse(section, "buffer_insert", "`buffer_insert` needs `out_offset`")


_RULES: tuple[Callable[[Chosen, Device, Findings], None], ...] = (
    _operation,
    _kernel,
    _padding,
    _stride,
    _dilation,
    _pools,
    _flatten,
    _output,
    _placed,
    _device,
    _buffers,
)
