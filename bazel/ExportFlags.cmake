# Writes the compiler flags of LatheFlags.cmake and LatheIsa.cmake, and those of the toolchain files, as a file of
# constants for the Bazel rules, so that they are known in one place.
#
#   cmake -DOUTPUT=<file> -P ExportFlags.cmake
cmake_minimum_required(VERSION 3.25)

include(${CMAKE_CURRENT_LIST_DIR}/../cmake/LatheFlags.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/../cmake/LatheIsa.cmake)

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
lathe_unit_flags(native/core/unit.cc core_flags)
starlark_list(core ${core_flags})
set(text "LIBRARY_FLAGS = ${common}\nCORE_FLAGS = ${core}\nISA_FLAGS = {\n")

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
foreach(abi IN ITEMS host aarch64-linux-gnu arm-linux-gnueabihf)
  toolchain_entry(${toolchains}/${abi}.cmake entry)
  string(APPEND text "${entry}")
endforeach()
file(WRITE ${OUTPUT} "\"\"\"The compiler flags of cmake/ and toolchains/.\"\"\"\n\n${text}}\n")
