"""Makes one object of the units of a library, which shows nothing but one function, and libraries of that object.

The options are those of the CMake project that Lathe generates, from cmake/LatheLink.cmake; a test compares the
results, which are checked as that project's are.
"""

load("@bazel_tools//tools/build_defs/cc:action_names.bzl", "ACTION_NAMES")
load("@lathe_tool//:flags.bzl", "CORE_FLAGS", "HEXAGON_FLAGS", "LINK_OPTIONS", "MERGE_OPTIONS", "TOOLCHAIN_FLAGS")
load("//bazel:tool.bzl", "LatheToolInfo")
load(":native.bzl", "configured", "library_flags")

# Where a compiler looks for the linker, unless the user says otherwise; that of Bazel's own actions.
_PATH = "/bin:/usr/bin:/usr/local/bin"

def _driver(ctx):
    """The compiler that drives assembler and linker, with the flags that say what it makes code for.

    They are those for the assembler: those for the linker would bring libraries and options meant for programs.
    """
    toolchain, features = configured(ctx)
    action = ACTION_NAMES.preprocess_assemble
    variables = cc_common.create_compile_variables(feature_configuration = features, cc_toolchain = toolchain)
    return struct(
        toolchain = toolchain,
        program = cc_common.get_tool_for_action(feature_configuration = features, action_name = action),
        flags = cc_common.get_memory_inefficient_command_line(
            feature_configuration = features,
            action_name = action,
            variables = variables,
        ),
        environment = dict(
            {"PATH": ctx.configuration.default_shell_env.get("PATH", _PATH)},
            **cc_common.get_environment_variables(
                feature_configuration = features,
                action_name = action,
                variables = variables,
            )
        ),
    )

def _run(ctx, driver, mnemonic, command, inputs, outputs, arguments):
    """`command` is a shell script: $1 is the compiler, the rest are `arguments`."""
    ctx.actions.run_shell(
        command = "set -eu\n" + command,
        arguments = [driver.program] + arguments,
        inputs = depset(inputs, transitive = [driver.toolchain.all_files]),
        outputs = outputs,
        env = driver.environment,
        mnemonic = mnemonic,
        progress_message = "%s %s" % ({
            "LatheAssemble": "Assembling the models of",
            "LatheTailor": "Tailoring",
            "LatheArchive": "Archiving",
            "LatheLink": "Linking",
        }[mnemonic], ctx.label),
    )

def assemble(ctx, embedded):
    """The object of the note that lists the kernels, and of the models inside the library."""
    driver = _driver(ctx)
    out = ctx.actions.declare_file("%s.lathe/embedded.o" % ctx.label.name)
    _run(
        ctx,
        driver,
        "LatheAssemble",
        "cc=$1 folder=$2 out=$3; shift 3\n\"$cc\" \"$@\" -c -Wa,-I,\"$folder\" -o \"$out\" \"$folder/weights.S\"",
        [embedded],
        [out],
        [embedded.path, out.path] + driver.flags,
    )
    return out

def merge(ctx, objects, undefined):
    """One object of what the library's function reaches."""
    driver = _driver(ctx)
    out = ctx.actions.declare_file("%s.lathe/merged.o" % ctx.label.name)
    arguments = ctx.actions.args()
    arguments.add_all(driver.flags)
    arguments.add_all(MERGE_OPTIONS)
    arguments.add(undefined, format = "@%s")
    arguments.add("-o", out)
    arguments.add_all(objects, expand_directories = True)
    ctx.actions.run(
        executable = driver.program,
        arguments = [arguments],
        inputs = depset(objects + [undefined], transitive = [driver.toolchain.all_files]),
        outputs = [out],
        env = driver.environment,
        mnemonic = "LatheTailor",
        progress_message = "Tailoring %s" % ctx.label,
    )
    return out

def archive(ctx, merged, symbols, library):
    """The static library: one object, in which everything but one function is local."""
    driver = _driver(ctx)
    out = ctx.actions.declare_file("%s.lathe/unchecked/lib%s.a" % (ctx.label.name, library))
    _run(
        ctx,
        driver,
        "LatheArchive",
        "\n".join([
            "objcopy=$2 ar=$3 symbols=$4 merged=$5 out=$6",
            "object=${out%.a}.o",
            "\"$objcopy\" --keep-global-symbols=\"$symbols\" --strip-unneeded --remove-section=.comment " +
            "\"$merged\" \"$object\"",
            "rm -f \"$out\"",
            "\"$ar\" qcD \"$out\" \"$object\"",
            "rm \"$object\"",
        ]),
        [merged, symbols],
        [out],
        [
            driver.toolchain.objcopy_executable,
            driver.toolchain.ar_executable,
            symbols.path,
            merged.path,
            out.path,
        ],
    )
    return out

def link(ctx, merged, exports, library, abi):
    """The shared library, stripped, and its twin with all symbols."""
    driver = _driver(ctx)
    whole = ctx.actions.declare_file("%s.lathe/unstripped/lib%s.so" % (ctx.label.name, library))
    out = ctx.actions.declare_file("%s.lathe/unchecked/lib%s.so" % (ctx.label.name, library))
    _run(
        ctx,
        driver,
        "LatheLink",
        "\n".join([
            "cc=$1 objcopy=$2 nm=$3 exports=$4 merged=$5 whole=$6 out=$7; shift 7",
            # Systems with a glibc before 2.34 have the threads in a library of their own, and what loads libraries
            # (the OpenCL of a machine) in another: they must be named.
            "threads=-lpthread",
            "case $(\"$cc\" \"$@\" -print-file-name=libpthread.so.0) in",
            "  /*) threads='-Wl,--no-as-needed -l:libpthread.so.0 -Wl,--as-needed' ;;",
            "esac",
            "loading=",
            "if \"$nm\" -u \"$merged\" | grep -q ' dlopen'; then",
            "  loading=-ldl",
            "  case $(\"$cc\" \"$@\" -print-file-name=libdl.so.2) in",
            "    /*) loading='-Wl,--no-as-needed -l:libdl.so.2 -Wl,--as-needed' ;;",
            "  esac",
            "fi",
            "\"$cc\" \"$@\" -shared -fPIC -Wl,--version-script=\"$exports\" -o \"$whole\" \"$merged\" " +
            "$threads $loading -lm -lc -lgcc",
            "\"$objcopy\" --strip-all --remove-section=.comment \"$whole\" \"$out\"",
        ]),
        [merged, exports],
        [whole, out],
        [
            driver.toolchain.objcopy_executable,
            driver.toolchain.nm_executable,
            exports.path,
            merged.path,
            whole.path,
            out.path,
        ] + driver.flags + LINK_OPTIONS + TOOLCHAIN_FLAGS[abi].link,
    )
    return out, whole

def programs_for_dsp(ctx, sources, library):
    """A folder of the programs for Qualcomm's DSP, empty where no model has a part for it.

    Compiled by clang++-19 and ld.lld-19 of the machine, only where somebody asks for the folder.

    Args:
      ctx: of the rule, which has the attributes of lathe_library.
      sources: the folder from the conversion.
      library: the name of the library.
    """
    tool = ctx.attr._tool[LatheToolInfo]
    out = ctx.actions.declare_directory("%s.lathe/dsp_programs" % ctx.label.name)
    request = ctx.actions.declare_file("%s.lathe/dsp.json" % ctx.label.name)
    flags = {
        "core": CORE_FLAGS["clang"],
        "library": library_flags("hexagon") + ([] if ctx.attr.messages else ["-DLATHE_NO_MESSAGES"]),
        "version": HEXAGON_FLAGS,
    }
    ctx.actions.write(request, json.encode({
        "dsp_programs": out.path,
        "dsp_sources": sources.path,
        "flags": flags,
        "library_name": library,
    }) + "\n")
    ctx.actions.run(
        executable = tool.program,
        arguments = [request.path],
        inputs = depset([request, sources], transitive = [tool.data]),
        outputs = [out],
        env = {"PATH": ctx.configuration.default_shell_env.get("PATH", _PATH)},
        execution_requirements = {"block-network": "1"},
        mnemonic = "LatheDsp",
        progress_message = "Compiling %s for the DSP" % ctx.label,
    )
    return out

def check(ctx, libraries, promises):
    """The libraries once it is certain that they keep their promises: what they export and need, and the glibc floor.

    Args:
      ctx: of the rule, which has the attributes of lathe_library.
      libraries: files.
      promises: the file in which the conversion has written them down.
    """
    tool = ctx.attr._tool[LatheToolInfo]
    checked = [ctx.actions.declare_file("%s.lathe/%s" % (ctx.label.name, file.basename)) for file in libraries]
    request = ctx.actions.declare_file("%s.lathe/check.json" % ctx.label.name)
    pairs = [[file.path, out.path] for file, out in zip(libraries, checked)]
    ctx.actions.write(request, json.encode({"check": pairs, "promises": promises.path}) + "\n")
    ctx.actions.run(
        executable = tool.program,
        arguments = [request.path],
        inputs = depset([request, promises] + libraries, transitive = [tool.data]),
        outputs = checked,
        execution_requirements = {"block-network": "1"},
        mnemonic = "LatheCheck",
        progress_message = "Checking %s" % ctx.label,
    )
    return checked
