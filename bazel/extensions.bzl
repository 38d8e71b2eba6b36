"""What repositories.bzl does for WORKSPACE files, for MODULE.bazel."""

load(":repositories.bzl", "lathe_tool_repository")

_tool = tag_class(
    doc = "Which Python has Lathe. Only the root module is asked.",
    attrs = {
        "packages": attr.string_list(doc = "Further Python packages that conversions may import."),
        "python": attr.string(doc = "The Python that has Lathe; $LATHE_PYTHON or python3 by default."),
    },
)

def _lathe_impl(module_ctx):
    python, packages = "", []
    for module in module_ctx.modules:
        if module.is_root:
            for tag in module.tags.tool:
                python, packages = tag.python, tag.packages
    lathe_tool_repository(name = "lathe_tool", python = python, packages = packages)

lathe = module_extension(
    implementation = _lathe_impl,
    tag_classes = {"tool": _tool},
)
