"""What runs a conversion."""

LatheToolInfo = provider(
    doc = "A program that runs bazel/convert.py with a Lathe of its own.",
    fields = {
        "program": "FilesToRunProvider: takes the file of a request",
        "data": "depset of files that it reads",
    },
)

def _lathe_tool_impl(ctx):
    return [LatheToolInfo(
        program = ctx.attr.program[DefaultInfo].files_to_run,
        data = depset(ctx.files.data),
    )]

lathe_tool = rule(
    implementation = _lathe_tool_impl,
    doc = "A program that converts, in the place of the one that is found: --@lathe//bazel:tool=//my:tool.",
    attrs = {
        "data": attr.label_list(allow_files = True, cfg = "exec", doc = "What the program reads besides."),
        "program": attr.label(allow_files = True, executable = True, cfg = "exec", mandatory = True),
    },
)
