# Writes the flags of LatheFlags.cmake, LatheIsa.cmake and LatheLink.cmake, and those of the toolchain files, as a file
# of constants for the Bazel rules, so that they are known in one place.
#
#   cmake -DOUTPUT=<file> -P ExportFlags.cmake
cmake_minimum_required(VERSION 3.25)

include(${CMAKE_CURRENT_LIST_DIR}/../cmake/LatheFlags.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/../cmake/LatheIsa.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/../cmake/LatheLink.cmake)

# A list of CMake as a list of Starlark.
function(starlark_list out)
  set(words "")
  foreach(word IN LISTS ARGN)
    string(APPEND words "\"${word}\", ")
  endforeach()
  set(${out} "[${words}]" PARENT_SCOPE)
endfunction()

lathe_flags(library_flags)
starlark_list(common ${library_flags})
set(core "{")
foreach(CMAKE_CXX_COMPILER_ID IN ITEMS GNU Clang)
  lathe_unit_flags(native/runtime/unit.cc core_flags)
  starlark_list(words ${core_flags})
  string(TOLOWER ${CMAKE_CXX_COMPILER_ID} family)
  string(APPEND core "\"${family}\": ${words}, ")
endforeach()
string(APPEND core "}")
lathe_merge_options(merge_options)
starlark_list(merge ${merge_options})
lathe_link_options(link_options)
starlark_list(link ${link_options})
set(text "LIBRARY_FLAGS = ${common}\nCORE_FLAGS = ${core}\nMERGE_OPTIONS = ${merge}\nLINK_OPTIONS = ${link}\n")
string(APPEND text "ISA_FLAGS = {\n")

get_cmake_property(names VARIABLES)
list(FILTER names INCLUDE REGEX "^LATHE_ISA_FLAGS_")
list(SORT names)
foreach(name IN LISTS names)
  string(REPLACE "LATHE_ISA_FLAGS_" "" isa ${name})
  lathe_isa_flags(${isa} isa_flags)
  starlark_list(words ${isa_flags})
  string(APPEND text "    \"${isa}\": ${words},\n")
endforeach()

# Each toolchain file in a scope of its own: what one sets does not reach the next.
function(toolchain_entry file out)
  set(CMAKE_CXX_FLAGS_INIT "")
  set(CMAKE_SHARED_LINKER_FLAGS_INIT "")
  include(${file})
  separate_arguments(compile_flags UNIX_COMMAND "${CMAKE_CXX_FLAGS_INIT}")
  separate_arguments(link_flags UNIX_COMMAND "${CMAKE_SHARED_LINKER_FLAGS_INIT}")
  starlark_list(compile ${compile_flags})
  starlark_list(link ${link_flags})
  cmake_path(GET file STEM LAST_ONLY abi)
  set(${out} "    \"${abi}\": struct(compile = ${compile}, link = ${link}),\n" PARENT_SCOPE)
endfunction()

string(APPEND text "}\nTOOLCHAIN_FLAGS = {\n")
set(toolchains ${CMAKE_CURRENT_LIST_DIR}/../toolchains)
foreach(abi IN ITEMS host aarch64-linux-gnu arm-linux-gnueabihf riscv64-linux-gnu)
  toolchain_entry(${toolchains}/${abi}.cmake entry)
  string(APPEND text "${entry}")
endforeach()

# Of programs on the DSP, whose action says the version and where the headers are.
function(hexagon_flags out)
  set(LATHE_HEXAGON_VERSION "%VERSION%")
  include(${toolchains}/hexagon.cmake)
  string(REGEX REPLACE " -isystem .*" "" flags "${CMAKE_CXX_FLAGS_INIT}")
  separate_arguments(flags UNIX_COMMAND "${flags}")
  starlark_list(words ${flags})
  set(${out} "${words}" PARENT_SCOPE)
endfunction()

hexagon_flags(hexagon)
string(APPEND text "}\nHEXAGON_FLAGS = ${hexagon}\n")
file(WRITE ${OUTPUT} "\"\"\"The flags of cmake/ and toolchains/.\"\"\"\n\n${text}")
