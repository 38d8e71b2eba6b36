# The compiler flags of all native code. LatheIsa.cmake, to be included too, knows what one instruction set needs, and
# nobody adds anything else.
#
#   lathe_flags(<variable> [PREFIX <folder>...])
#     of what goes into a library: no C++ runtime, nothing that depends on the place or time of the build.
#   lathe_unit_flags(<file> <variable>)
#     what one of these files gets in addition: the flags of its instruction set, or those of the runtime, which what
#     drives other devices has, too.
#   lathe_isa_target(<target> <isa>)
#     gives a target of files of one instruction set, and of no other, what lathe_unit_flags says of each. Where there
#     are several, the header of the intrinsics is precompiled: most kernels take less time than it.
#   lathe_tool_flags(<variable> [PREFIX <folder>...])
#     of programs around a library: ordinary C++.
#   lathe_link_flags(<variable>)
#     of shared libraries, what the system asks for that loads them.
#
# Compilers for 64-bit ARM may leave it to the run time which atomic instructions there are, and code that runs when a
# library is loaded then finds out: libraries have none of that.
#
# Every compiler warns of something else, so warnings are errors only where the environment has LATHE_WARNINGS_AS_ERRORS=1,
# as it is in the tests of Lathe.
#
# The names of the folders vanish from the objects, so that a tree gives the same bytes wherever it lies.
function(lathe_tool_flags out)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "PREFIX")
  set(
    flags
    -std=c++17
    -O2
    -ffunction-sections
    -fdata-sections
    -Wall
    -Wextra
  )
  if("$ENV{LATHE_WARNINGS_AS_ERRORS}")
    list(APPEND flags -Werror)
  endif()
  if(NOT CMAKE_SYSTEM_PROCESSOR STREQUAL "wasm32") # where it is for modules that load each other
    list(APPEND flags -fPIC)
  endif()
  if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(aarch64|arm64)")
    include(CheckCXXCompilerFlag)
    check_cxx_compiler_flag(-mno-outline-atomics LATHE_HAS_NO_OUTLINE_ATOMICS)
    if(LATHE_HAS_NO_OUTLINE_ATOMICS)
      list(APPEND flags -mno-outline-atomics)
    endif()
  endif()
  foreach(prefix IN LISTS arg_PREFIX)
    list(APPEND flags "-ffile-prefix-map=${prefix}/=")
  endforeach()
  set(${out} ${flags} PARENT_SCOPE)
endfunction()

function(lathe_unit_flags file out)
  lathe_isa_of(${file} isa)
  lathe_isa_flags(${isa} unit_flags)
  if(
    (file MATCHES "native/(runtime|kernel|wasm)/" AND NOT file MATCHES "__[a-z0-9]+\\.cc$")
    OR isa MATCHES "^(opencl|hexagon)$"
  )
    # They check, plan and dispatch: a quarter smaller, and no kernel waits for them.
    list(APPEND unit_flags -Os -fomit-frame-pointer)
    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
      list(APPEND unit_flags -fno-move-loop-invariants -fno-tree-loop-im) # what is moved in front of a loop has to be kept there
    endif()
  endif()
  set(${out} "${unit_flags}" PARENT_SCOPE)
endfunction()

function(lathe_isa_target target isa)
  get_target_property(files ${target} SOURCES)
  if(isa MATCHES "^(portable|opencl|hexagon|hvx)$")
    foreach(file IN LISTS files)
      lathe_unit_flags(${file} unit_flags)
      set_property(SOURCE ${file} APPEND PROPERTY COMPILE_OPTIONS ${unit_flags})
    endforeach()
    return()
  endif()
  lathe_isa_flags(${isa} isa_flags)
  target_compile_options(${target} PRIVATE ${isa_flags})
  list(LENGTH files count)
  if(count GREATER 2 AND NOT isa STREQUAL "rvv") # whose header has no declarations: Clang makes those that are called
    if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(aarch64|arm)")
      target_precompile_headers(${target} PRIVATE <arm_neon.h>)
    elseif(CMAKE_SYSTEM_PROCESSOR STREQUAL "wasm32")
      target_precompile_headers(${target} PRIVATE <wasm_simd128.h>)
    else()
      target_precompile_headers(${target} PRIVATE <immintrin.h>)
    endif()
  endif()
endfunction()

function(lathe_flags out)
  lathe_tool_flags(flags ${ARGN})
  list(
    APPEND flags
    -fvisibility=hidden
    -fno-exceptions
    -fno-rtti
    -fno-threadsafe-statics
    -fno-asynchronous-unwind-tables
    -fno-unwind-tables
    -ffp-contract=off
    -nostdinc++
  )
  set(${out} ${flags} PARENT_SCOPE)
endfunction()

function(lathe_link_flags out)
  set(flags -Wl,--hash-style=gnu)
  if(ANDROID)
    # Android before 6 reads the old table of symbols only, and 64-bit Android may have pages of 16 KiB.
    set(flags -fuse-ld=lld -Wl,--hash-style=both)
    if(CMAKE_SIZEOF_VOID_P EQUAL 8)
      list(APPEND flags -Wl,-z,max-page-size=16384)
    endif()
  endif()
  set(${out} ${flags} PARENT_SCOPE)
endfunction()
