"""Compiles native sources of Lathe with the C++ toolchain that Bazel has chosen, and Lathe's own flags."""

load("@bazel_tools//tools/cpp:toolchain_utils.bzl", "find_cpp_toolchain")
load("@lathe_tool//:flags.bzl", "CORE_FLAGS", "LIBRARY_FLAGS")

CPP_TOOLCHAIN_TYPE = "@bazel_tools//tools/cpp:toolchain_type"

# What every rule needs that compiles.
CPP_TOOLCHAIN_ATTRIBUTES = {
    "_cc_toolchain": attr.label(default = "@bazel_tools//tools/cpp:current_cc_toolchain"),
}

# Toolchains bring flags of their own, for programs in general. These give the library the bytes that it has elsewhere.
_NEUTRAL_FLAGS = [
    "-g0",
    "-fno-stack-protector",
    "-U_FORTIFY_SOURCE",
]

# Where compilers keep frame pointers by themselves, in functions that call others.
_CPUS_WITH_FRAMES = ["aarch64", "arm64"]

# Objects that are linked into one, and localised, have to be objects.
_UNSUPPORTED_FEATURES = [
    "coverage",
    "layering_check",
    "module_maps",
    "parse_headers",
    "thin_lto",
    "full_lto",
]

LatheObjectsInfo = provider(
    doc = "Compiled units.",
    fields = {"objects": "list of files and folders"},
)

def configured(ctx):
    """The C++ toolchain of a rule, with the features that Lathe's sources are compiled with."""
    toolchain = find_cpp_toolchain(ctx)
    features = cc_common.configure_features(
        ctx = ctx,
        cc_toolchain = toolchain,
        requested_features = ctx.features,
        unsupported_features = ctx.disabled_features + _UNSUPPORTED_FEATURES,
    )
    return toolchain, features

def library_flags(cpu):
    """Those of the one table, without warnings: another compiler may have more of them, and here nobody mends them."""
    frames = [] if cpu in _CPUS_WITH_FRAMES else ["-fomit-frame-pointer"]
    return [flag for flag in LIBRARY_FLAGS if not flag.startswith("-W")] + ["-w"] + _NEUTRAL_FLAGS + frames

def compile_units(ctx, name, sources, contexts, flags, messages = True, headers = [], include = None):
    """Compiles units, which may be folders of units; a list of objects, which may be folders of objects.

    Args:
      ctx: of the rule.
      name: a name that no other call of the rule has.
      sources: files and folders.
      contexts: compilation contexts of what the units include.
      flags: of their instruction set.
      messages: whether they hold the texts of messages.
      headers: files and folders that they may include.
      include: path of a folder to which includes are relative, or None.
    """
    toolchain, features = configured(ctx)
    own = cc_common.create_compilation_context(
        headers = depset(headers),
        quote_includes = depset([include] if include else []),
    )
    _, outputs = cc_common.compile(
        name = name,
        actions = ctx.actions,
        feature_configuration = features,
        cc_toolchain = toolchain,
        srcs = sources,
        compilation_contexts = contexts + [own],
        user_compile_flags = library_flags(toolchain.cpu) + flags + ([] if messages else ["-DLATHE_NO_MESSAGES"]),
        disallow_nopic_outputs = True,
    )
    return outputs.pic_objects

def core_flags(ctx):
    """Those of the runtime, and of what drives other devices, by the compiler."""
    toolchain, _ = configured(ctx)
    return CORE_FLAGS["clang" if "clang" in toolchain.compiler else "gnu"]

def _lathe_core_impl(ctx):
    objects = compile_units(
        ctx,
        ctx.label.name,
        ctx.files.srcs,
        [dep[CcInfo].compilation_context for dep in ctx.attr.deps],
        core_flags(ctx),
        ctx.attr.messages,
    )
    return [DefaultInfo(files = depset(objects)), LatheObjectsInfo(objects = objects)]

lathe_core = rule(
    implementation = _lathe_core_impl,
    doc = "The runtime: compiled once for all libraries of a configuration.",
    attrs = dict(
        CPP_TOOLCHAIN_ATTRIBUTES,
        deps = attr.label_list(providers = [CcInfo]),
        messages = attr.bool(default = True),
        srcs = attr.label_list(allow_files = [".cc"]),
    ),
    fragments = ["cpp"],
    toolchains = [CPP_TOOLCHAIN_TYPE],
)
