"""Tailored libraries in Bazel builds: `lathe_library` and `lathe_model`. See docs/how-to/bazel.md."""

load("@lathe_tool//:flags.bzl", "ISA_FLAGS", "TOOLCHAIN_FLAGS")
load("//bazel/private:conversion.bzl", "LatheModelInfo", "convert")
load("//bazel/private:link.bzl", "archive", "assemble", "check", "link", "merge", "programs_for_dsp")
load(
    "//bazel/private:native.bzl",
    "CPP_TOOLCHAIN_ATTRIBUTES",
    "CPP_TOOLCHAIN_TYPE",
    "LatheObjectsInfo",
    "compile_units",
    "configured",
    "core_flags",
)

def _lathe_model_impl(ctx):
    files = {}
    sources = [(ctx.file.model, ctx.attr.model_file_path)]
    if ctx.file.weights:
        sources.append((ctx.file.weights, ctx.attr.weight_file_path))
    for file, path in sources:
        files[path or file.basename] = file
    folder = (ctx.attr.model_file_path or ctx.file.model.basename).rpartition("/")[0]
    for file in ctx.files.data:
        files[(folder + "/" if folder else "") + file.basename] = file
    return [
        DefaultInfo(files = depset(files.values())),
        LatheModelInfo(files = files),
    ]

lathe_model = rule(
    implementation = _lathe_model_impl,
    doc = "The files of a model, wherever they come from: downloaded, generated, or of another package.",
    attrs = {
        "data": attr.label_list(
            allow_files = True,
            doc = "Files that the model's file refers to: they stand beside it.",
        ),
        "model": attr.label(allow_single_file = True, mandatory = True, doc = "The file or folder of the model."),
        "model_file_path": attr.string(doc = "What the deployment file calls it; the name of the file by default."),
        "weight_file_path": attr.string(doc = "What the deployment file calls the weights."),
        "weights": attr.label(allow_single_file = True, doc = "The weights, where the framework keeps them apart."),
    },
)

def _objects(ctx, converted):
    """The runtime, the kernels that the models need, the registry, and what is embedded."""
    core = ctx.attr._core if ctx.attr.messages else ctx.attr._silent_core
    units = [("registry", converted.registry, [])]
    units += [
        (isa, folder, core_flags(ctx) if isa in ("opencl", "hexagon") else ISA_FLAGS[isa])
        for isa, folder in converted.kernels.items()
    ]
    objects = list(core[LatheObjectsInfo].objects)
    for name, source, flags in units:
        objects += compile_units(
            ctx,
            name = "%s_%s" % (ctx.label.name, name),
            sources = [source],
            contexts = [ctx.attr._headers[CcInfo].compilation_context],
            flags = flags,
            messages = ctx.attr.messages,
            headers = [converted.headers],
            include = converted.headers.path,
        )
    return objects + [assemble(ctx, converted.embedded)]

def _lathe_library_impl(ctx):
    library, abi = ctx.attr.library_name or ctx.label.name, ctx.attr.abi
    if abi not in TOOLCHAIN_FLAGS:
        fail("%s: the ABI '%s' is not one of: %s" % (ctx.label, abi, ", ".join(TOOLCHAIN_FLAGS)))
    converted = convert(ctx, abi, library)
    merged = merge(ctx, _objects(ctx, converted), converted.undefined)
    linked, unstripped = link(ctx, merged, converted.exports, library, abi)
    archived = archive(ctx, merged, converted.symbols, library)
    static, shared = check(ctx, [archived, linked], converted.promises)

    toolchain, features = configured(ctx)
    to_link = cc_common.create_library_to_link(
        actions = ctx.actions,
        feature_configuration = features,
        cc_toolchain = toolchain,
        pic_static_library = static,
        dynamic_library = shared,
    )
    linker_input = cc_common.create_linker_input(
        owner = ctx.label,
        libraries = depset([to_link]),
        user_link_flags = depset(["-pthread", "-lm", "-ldl"]),
    )
    info = CcInfo(
        compilation_context = cc_common.create_compilation_context(
            headers = depset([converted.include]),
            includes = depset([converted.include.path]),
        ),
        linking_context = cc_common.create_linking_context(linker_inputs = depset([linker_input])),
    )
    return [
        info,
        DefaultInfo(
            files = depset([static, shared]),
            runfiles = ctx.runfiles(files = [converted.models]),
        ),
        OutputGroupInfo(
            dsp = depset([programs_for_dsp(ctx, converted.dsp, library)]),
            include = depset([converted.include]),
            models = depset([converted.models]),
            static = depset([static]),
            shared = depset([shared]),
            unstripped = depset([unstripped]),
        ),
    ]

_lathe_library = rule(
    implementation = _lathe_library_impl,
    attrs = dict(
        CPP_TOOLCHAIN_ATTRIBUTES,
        abi = attr.string(mandatory = True),
        deployment = attr.label(allow_single_file = [".yml", ".yaml"], mandatory = True),
        library_name = attr.string(),
        messages = attr.bool(default = True),
        model_data_format = attr.string(values = ["", "code", "file"]),
        model_graph_format = attr.string(values = ["", "code", "file"]),
        models = attr.label_list(allow_files = True, mandatory = True),
        ops = attr.label_list(allow_files = True),
        _core = attr.label(default = "//native:core"),
        _headers = attr.label(default = "//native:headers"),
        _silent_core = attr.label(default = "//native:silent_core"),
        _tool = attr.label(default = "//bazel:tool", cfg = "exec"),
    ),
    fragments = ["cpp"],
    provides = [CcInfo],
    toolchains = [CPP_TOOLCHAIN_TYPE],
)

def lathe_library(name, deployment, models, ops = [], abi = None, **attributes):
    """The library of a deployment file, tailored to its models: for `deps` of cc_binary, cc_library and cc_test.

    Args:
      name: of the target, and of the library where `library_name` says no other.
      deployment: the deployment file. Its `library_name` and `target_abis` do not count here.
      models: the files that it names, as labels of files at these very places or of `lathe_model`.
      ops: files of the user's own operators: of the folders that `op_paths` in the deployment file names.
      abi: what the library is built for; by default what the target platform says.
      **attributes: library_name, messages, model_graph_format, model_data_format: they hold instead of the keys of the
        deployment file. And what all rules take: visibility, tags, testonly ...
    """
    _lathe_library(
        name = name,
        deployment = deployment,
        models = models,
        ops = ops,
        abi = abi or select({
            str(Label("//bazel/platforms:is_aarch64")): "aarch64-linux-gnu",
            str(Label("//bazel/platforms:is_arm")): "arm-linux-gnueabihf",
            str(Label("//bazel/platforms:is_riscv64")): "riscv64-linux-gnu",
            "//conditions:default": "host",
        }),
        **attributes
    )
