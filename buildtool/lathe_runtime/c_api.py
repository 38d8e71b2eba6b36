"""The structures of lathe/c_api.h for ctypes, in its order."""

from __future__ import annotations

import ctypes
from ctypes import (
    CFUNCTYPE,
    POINTER,
    Structure,
    c_char_p,
    c_float,
    c_int32,
    c_int64,
    c_size_t,
    c_uint32,
    c_void_p,
)

from . import images  # noqa: TID252 (in the wheel for boards, this package has another parent)

MAX_RANK = 8


class Error(Structure):
    _fields_ = [("code", c_int32), ("message", ctypes.c_char * 508)]


class Bytes(Structure):
    _fields_ = [("data", c_void_p), ("size", c_size_t)]


class EmbeddedModel(Structure):
    _fields_ = [("name", c_char_p), ("model", Bytes), ("data", Bytes)]


class DeviceOptions(Structure):
    _fields_ = [
        ("struct_size", c_uint32),
        ("kind", c_uint32),
        ("flags", c_uint32),
        ("perf_hint", c_uint32),
        ("priority_hint", c_uint32),
        ("rebuilds_programs", c_uint32),
        ("storage_path", c_char_p),
        ("binary_path_count", c_size_t),
        ("binary_paths", POINTER(c_char_p)),
        ("binary", Bytes),
        ("tuning_path", c_char_p),
        ("tuning", Bytes),
        ("tuning_milliseconds", c_uint32),
        ("queue_window", c_uint32),
        ("kernel_microseconds", c_uint32),
        ("dsp_flags", c_uint32),
        ("dsp_power", c_uint32),
        ("dsp_latency", c_uint32),
    ]


class DeviceInfo(Structure):
    _fields_ = [
        ("struct_size", c_uint32),
        ("kind", c_uint32),
        ("device", c_char_p),
        ("driver", c_char_p),
        ("reason", c_char_p),
        ("programs_built", c_uint32),
        ("programs_loaded", c_uint32),
        ("programs_ms", c_float),
        ("memory", c_size_t),
    ]


class CoreInfo(Structure):
    _fields_ = [(name, c_uint32) for name in ("struct_size", "core", "kind", "allowed", "capacity", "max_khz")]


class CpuOptions(Structure):
    _fields_ = [
        ("struct_size", c_uint32),
        ("power", c_uint32),
        ("core_count", c_uint32),
        ("cores", POINTER(c_uint32)),
    ]


class EngineOptions(Structure):
    _fields_ = [
        ("struct_size", c_uint32),
        ("num_threads", c_int32),
        ("model_name", c_char_p),
        ("model_path", c_char_p),
        ("data_path", c_char_p),
        ("model", Bytes),
        ("data", Bytes),
        ("pool", c_void_p),
        ("allocator", c_void_p),
        ("isa_limit", c_char_p),
        ("device", POINTER(DeviceOptions)),
        ("cpu", POINTER(CpuOptions)),
    ]


class SessionOptions(Structure):
    _fields_ = [("struct_size", c_uint32), ("flags", c_uint32)]


class TensorInfo(Structure):
    _fields_ = [
        ("struct_size", c_uint32),
        ("dtype", c_uint32),
        ("name", c_char_p),
        ("format", c_char_p),
        ("rank", c_uint32),
        ("dims", c_int64 * MAX_RANK),
        ("dims_max", c_int64 * MAX_RANK),
        ("dims_min", c_int64 * MAX_RANK),
        ("bytes", c_size_t),
    ]


class Shape(Structure):
    _fields_ = [("rank", c_uint32), ("dims", c_int64 * MAX_RANK)]


class NodeEvent(Structure):
    _fields_ = [
        ("struct_size", c_uint32),
        ("index", c_uint32),
        ("op", c_char_p),
        ("name", c_char_p),
        ("kernel", c_char_p),
        ("start_ns", c_int64),
        ("end_ns", c_int64),
    ]


class MemoryInfo(Structure):
    _fields_ = [
        ("struct_size", c_uint32),
        ("weights_mapped", c_size_t),
        ("weights_allocated", c_size_t),
        ("arena", c_size_t),
        ("scratch", c_size_t),
    ]


Observer = CFUNCTYPE(None, c_void_p, POINTER(NodeEvent))
Code, Handle, Problem, Index = c_int32, c_void_p, POINTER(Error), c_size_t
InfoFunction = CFUNCTYPE(Code, Handle, Index, POINTER(TensorInfo), Problem)
DataFunction = CFUNCTYPE(Code, Handle, Index, POINTER(c_void_p), POINTER(c_size_t), Problem)
BindFunction = CFUNCTYPE(Code, Handle, Index, c_void_p, c_size_t, Problem)
_NOTHING = CFUNCTYPE(None)  # of entries that nothing here calls


class Api(Structure):
    """lathe_api."""

    _fields_ = [
        ("struct_size", c_uint32),
        ("abi_version", c_uint32),
        ("library", c_char_p),
        ("version", c_char_p),
        ("kernel_count", CFUNCTYPE(c_size_t)),
        ("kernel_name", CFUNCTYPE(c_char_p, Index)),
        ("model_count", CFUNCTYPE(c_size_t)),
        ("model_at", CFUNCTYPE(POINTER(EmbeddedModel), Index)),
        ("pool_create", _NOTHING),
        ("pool_destroy", _NOTHING),
        ("engine_create", CFUNCTYPE(Code, POINTER(EngineOptions), POINTER(Handle), Problem)),
        ("engine_destroy", CFUNCTYPE(None, Handle)),
        ("input_count", CFUNCTYPE(c_size_t, Handle)),
        ("output_count", CFUNCTYPE(c_size_t, Handle)),
        ("session_create", CFUNCTYPE(Code, Handle, POINTER(SessionOptions), POINTER(Handle), Problem)),
        ("session_destroy", CFUNCTYPE(None, Handle)),
        ("input_info", InfoFunction),
        ("output_info", InfoFunction),
        ("resize", CFUNCTYPE(Code, Handle, c_size_t, POINTER(Shape), Problem)),
        ("input_data", DataFunction),
        ("bind_input", BindFunction),
        ("bind_output", BindFunction),
        ("run", CFUNCTYPE(Code, Handle, Problem)),
        ("output_data", DataFunction),
        ("value", CFUNCTYPE(Code, Handle, c_char_p, POINTER(TensorInfo), POINTER(c_void_p), Problem)),
        ("set_observer", CFUNCTYPE(None, Handle, Observer, c_void_p)),
        ("memory_info", CFUNCTYPE(None, Handle, POINTER(MemoryInfo))),
        ("value_count", CFUNCTYPE(c_size_t, Handle)),
        ("value_at", CFUNCTYPE(Code, Handle, Index, POINTER(TensorInfo), POINTER(c_void_p), Problem)),
        ("node_at", _NOTHING),
        ("node_numbers", _NOTHING),
        ("device_info", CFUNCTYPE(Code, Handle, POINTER(DeviceInfo), Problem)),
        ("device_data", CFUNCTYPE(Code, Handle, c_uint32, POINTER(Bytes), Problem)),
        ("set_thread_observer", _NOTHING),
        ("core_count", CFUNCTYPE(c_size_t)),
        ("core_at", CFUNCTYPE(Code, Index, POINTER(CoreInfo), Problem)),
        ("engine_bind", CFUNCTYPE(Code, Handle, POINTER(CpuOptions), Problem)),
        ("engine_cores", CFUNCTYPE(c_size_t, Handle, POINTER(c_uint32), c_size_t)),
        ("vision", POINTER(images.Vision)),
    ]
