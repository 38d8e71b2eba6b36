"""The action that converts: the files of a deployment in, the sources of its library out."""

load("@lathe_tool//:flags.bzl", "ISA_FLAGS")
load("//bazel:tool.bzl", "LatheToolInfo")

LatheModelInfo = provider(
    doc = "The files of a model.",
    fields = {"files": "{path relative to the deployment file: file}"},
)

def _normal(path):
    """The path without `.` and `..`; None where it leaves the folder that it starts in."""
    parts = []
    for part in path.split("/"):
        if part == "..":
            if not parts:
                return None
            parts.pop()
        elif part not in ("", "."):
            parts.append(part)
    return "/".join(parts)

def _staged(ctx):
    """{path: file} of all that the deployment may name, as its relative paths find it."""
    deployment = ctx.file.deployment
    if deployment.short_path.startswith("../"):
        fail("%s: the deployment file has to be of this repository" % ctx.label)
    folder = deployment.short_path.rpartition("/")[0]
    staged = {deployment.short_path: deployment}
    for target in ctx.attr.models:
        if LatheModelInfo in target:
            for path, file in target[LatheModelInfo].files.items():
                place = _normal(folder + "/" + path)
                if place == None:
                    fail("%s: '%s' leads out of the repository" % (target.label, path))
                staged[place] = file
        else:
            staged.update(_plain(ctx, target))
    for target in ctx.attr.ops:
        staged.update(_plain(ctx, target))
    return staged

def _plain(ctx, target):
    """Files that stand where the deployment says."""
    files = {}
    for file in target[DefaultInfo].files.to_list():
        if file.short_path.startswith("../"):
            fail("%s: '%s' is of another repository: say what the deployment calls it, with lathe_model" %
                 (ctx.label, file.short_path))
        files[file.short_path] = file
    return files

def convert(ctx, abi, library):
    """Declares the conversion; its outputs as a struct of files and folders.

    Args:
      ctx: of the rule, which has the attributes of lathe_library.
      abi: as deployment files call it.
      library: the name of the library.
    """
    tool = ctx.attr._tool[LatheToolInfo]
    prefix = ctx.label.name + ".lathe/"
    kernels = {isa: ctx.actions.declare_directory(prefix + "kernels/" + isa) for isa in sorted(ISA_FLAGS)}
    out = {name: ctx.actions.declare_directory(prefix + name) for name in ("dsp", "embedded", "headers", "include", "models")}
    for name, file in [
        ("exports", "exports.map"),
        ("promises", "promises.json"),
        ("registry", "registry.cc"),
        ("symbols", "symbols.txt"),
        ("undefined", "undefined.txt"),
    ]:
        out[name] = ctx.actions.declare_file(prefix + file)
    staged = _staged(ctx)
    request = {
        "abi": abi,
        "deployment": ctx.file.deployment.short_path,
        "files": {path: source.path for path, source in staged.items()},
        "kernels": {isa: tree.path for isa, tree in kernels.items()},
        "library_name": library,
        "model_data_format": ctx.attr.model_data_format,
        "model_graph_format": ctx.attr.model_graph_format,
    }
    request.update({name: output.path for name, output in out.items()})
    written = ctx.actions.declare_file(prefix + "request.json")
    ctx.actions.write(written, json.encode_indent(request, indent = "  ") + "\n")
    ctx.actions.run(
        executable = tool.program,
        arguments = [written.path],
        inputs = depset([written] + staged.values(), transitive = [tool.data]),
        outputs = kernels.values() + out.values(),
        execution_requirements = {"block-network": "1"},
        mnemonic = "LatheConvert",
        progress_message = "Converting %s for %s" % (ctx.label, abi),
    )
    return struct(kernels = kernels, **out)
