"""Finds the Lathe that is installed in the user's Python, for WORKSPACE files; extensions.bzl does so for modules."""

def _version(repository_ctx):
    """The version of these rules."""
    for line in repository_ctx.read(Label("//:MODULE.bazel")).split("\n"):
        words = line.split("\"")
        if words[0].strip() == "version =":
            return words[1]
    fail("MODULE.bazel tells no version")

def _lathe_tool_repository_impl(repository_ctx):
    python = repository_ctx.attr.python or repository_ctx.os.environ.get("LATHE_PYTHON", "python3")
    program = python if python.startswith("/") else repository_ctx.which(python)
    if not program:
        fail("There is no '%s' on the PATH. Set LATHE_PYTHON to the Python that has Lathe: " % python +
             "--repo_env=LATHE_PYTHON=/path/to/python")
    script = repository_ctx.path(Label("//bazel:install.py"))
    done = repository_ctx.execute(
        [program, script, ".", _version(repository_ctx)] + repository_ctx.attr.packages,
        environment = {"PYTHONDONTWRITEBYTECODE": "1"},
    )
    if done.return_code:
        fail("\n" + done.stderr)

lathe_tool_repository = repository_rule(
    implementation = _lathe_tool_repository_impl,
    doc = "The installed Lathe, with all that it imports.",
    attrs = {
        "packages": attr.string_list(doc = "Further Python packages that conversions may import."),
        "python": attr.string(doc = "The Python that has Lathe; $LATHE_PYTHON or python3 by default."),
    },
    environ = ["LATHE_PYTHON", "PATH"],
    local = True,
)

def lathe_repositories(python = "", packages = []):
    """For the WORKSPACE file, behind the repository `lathe` itself.

    Args:
      python: the Python that has Lathe; $LATHE_PYTHON or python3 by default.
      packages: further Python packages that conversions may import.
    """
    lathe_tool_repository(name = "lathe_tool", python = python, packages = packages)
