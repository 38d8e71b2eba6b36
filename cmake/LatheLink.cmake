# How the units of a library become one object, and that a shared library. The projects that Lathe generates have these
# options from here, and so have the Bazel rules, for which bazel/ExportFlags.cmake writes them down.
#
#   lathe_merge_options(<variable>)    of the one object, which holds what an undefined symbol reaches
#   lathe_link_options(<variable>)     of the shared library, beside its version script
#   lathe_module_options(<variable> <api>)   of a WebAssembly module, which is linked from the units themselves
#
# LatheFlags.cmake, to be included before, knows what the system wants (lathe_link_flags).
function(lathe_merge_options out)
  set(options -nostdlib -r -Wl,--build-id=none)
  if(ANDROID)
    list(APPEND options -fuse-ld=lld)
  else()
    list(APPEND options -Wl,--gc-sections -Wl,--force-group-allocation)
  endif()
  set(${out} ${options} PARENT_SCOPE)
endfunction()

function(lathe_link_options out)
  lathe_link_flags(flags)
  set(
    ${out}
    -nostdlib
    -Wl,--gc-sections
    -Wl,--as-needed
    -Wl,--build-id=none
    ${flags}
    -Wl,-O1
    -Wl,-z,defs
    -Wl,-z,now
    -Wl,-z,noexecstack
    -Wl,-z,noseparate-code
    PARENT_SCOPE
  )
endfunction()

# The stack is in front of everything else, so that one that is too small traps instead of writing into data. A module
# with threads takes the memory from the page, which shares it with its workers; each has a stack of its own. The C
# library is compiled for one thread, and no worker allocates.
function(lathe_module_options out api)
  set(threads)
  if(LATHE_WASM_FEATURES MATCHES "atomics")
    set(
      threads
      -Wl,--shared-memory
      -Wl,--import-memory
      -Wl,--export-memory
      -Wl,--max-memory=4294967296
      -Wl,--no-check-features
      -Wl,--export=__stack_pointer
    )
  endif()
  set(
    ${out}
    -nostdlib
    -Wl,--no-entry
    -Wl,--gc-sections
    -Wl,-O2
    -Wl,--stack-first
    -Wl,-z,stack-size=262144
    -Wl,--export=${api}
    -Wl,--export=aligned_alloc
    -Wl,--export=free
    -Wl,--export-table
    ${threads}
    -L${LATHE_WASI_ROOT}/lib/wasm32-wasi
    PARENT_SCOPE
  )
endfunction()
