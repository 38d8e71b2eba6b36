"""A cross compiler that is installed as a Debian package: /usr/bin/<triple>-gcc and its kin, or Clang with its tools."""

load("@bazel_tools//tools/build_defs/cc:action_names.bzl", "ACTION_NAMES")
load("@bazel_tools//tools/cpp:cc_toolchain_config_lib.bzl", "feature", "feature_set", "flag_group", "flag_set", "tool_path")

_COMPILES = [
    ACTION_NAMES.assemble,
    ACTION_NAMES.c_compile,
    ACTION_NAMES.cpp_compile,
    ACTION_NAMES.preprocess_assemble,
]
_LINKS = [
    ACTION_NAMES.cpp_link_dynamic_library,
    ACTION_NAMES.cpp_link_executable,
    ACTION_NAMES.cpp_link_nodeps_dynamic_library,
]
_TOOLS = ["ar", "cpp", "gcc", "gcov", "ld", "nm", "objcopy", "objdump", "strip"]

# Equal sources give equal objects, whenever and wherever.
_REPRODUCIBLE = [
    "-no-canonical-prefixes",
    "-Wno-builtin-macro-redefined",
    "-D__DATE__=\"redacted\"",
    "-D__TIMESTAMP__=\"redacted\"",
    "-D__TIME__=\"redacted\"",
]

def _flags(name, actions, flags, **conditions):
    sets = [flag_set(actions = actions, flag_groups = [flag_group(flags = flags)])] if flags else []
    return feature(name = name, flag_sets = sets, **conditions)

def _gnu_toolchain_config_impl(ctx):
    triple = ctx.attr.triple
    clang = ctx.attr.clang
    target = ["--target=" + triple] if clang else []
    reproducible = _REPRODUCIBLE + ([] if clang else ["-fno-canonical-system-headers"])
    paths = {tool: "/usr/bin/%s-%s" % (triple, tool) for tool in _TOOLS}
    if clang:
        paths.update(gcc = "/usr/bin/clang-" + clang, cpp = "/usr/bin/clang-cpp-" + clang)
    features = [
        feature(name = "supports_dynamic_linker", enabled = True),
        feature(name = "supports_pic", enabled = True),
        feature(name = "dbg"),
        feature(name = "fastbuild"),
        feature(name = "opt"),
        _flags("architecture", _COMPILES, target + ctx.attr.compile_flags, enabled = True),
        _flags("reproducible", _COMPILES, reproducible, enabled = True),
        _flags("optimised", _COMPILES, ["-O2", "-DNDEBUG"], enabled = True, requires = [feature_set(features = ["opt"])]),
        _flags("debuggable", _COMPILES, ["-g"], enabled = True, requires = [feature_set(features = ["dbg"])]),
        _flags("standard_libraries", _LINKS, target + ["-lstdc++", "-lm"], enabled = True),
    ]
    return cc_common.create_cc_toolchain_config_info(
        ctx = ctx,
        abi_libc_version = "glibc",
        abi_version = "gcc",
        compiler = "clang" if clang else "gcc",
        cxx_builtin_include_directories = [
            "/usr/%s/include" % triple,
            "/usr/lib/gcc-cross/%s" % triple,
        ] + (["/usr/lib/llvm-%s/lib/clang/%s/include" % (clang, clang)] if clang else []),
        features = features,
        host_system_name = "local",
        target_cpu = ctx.attr.cpu,
        target_libc = "glibc",
        target_system_name = triple,
        tool_paths = [tool_path(name = tool, path = path) for tool, path in paths.items()],
        toolchain_identifier = triple,
    )

gnu_toolchain_config = rule(
    implementation = _gnu_toolchain_config_impl,
    attrs = {
        "clang": attr.string(doc = "Its version, where Clang compiles."),
        "compile_flags": attr.string_list(doc = "What the processor is."),
        "cpu": attr.string(mandatory = True),
        "triple": attr.string(mandatory = True),
    },
    provides = [CcToolchainConfigInfo],
)
