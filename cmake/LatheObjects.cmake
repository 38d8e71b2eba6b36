# Compiles sources into the object cache: one object per source, with the flags of LatheFlags and LatheIsa. The builder
# copies this file as CMakeLists.txt into a folder of the cache, next to `sources/` (a copy of what is to be compiled) and
# `units.cmake`, which lists LATHE_LIBRARY_UNITS, LATHE_SILENT_UNITS (of libraries without messages) and LATHE_TOOL_UNITS
# relative to `sources/`.
cmake_minimum_required(VERSION 3.25)
project(LatheObjects LANGUAGES CXX)

include(LatheFlags.cmake)
include(LatheIsa.cmake)
include(units.cmake)

set(sources ${CMAKE_CURRENT_SOURCE_DIR}/sources)

# A target per instruction set, <kind>_<isa>, so that each precompiles its header with its flags.
function(lathe_library_units kind)
  lathe_flags(flags PREFIX ${sources})
  foreach(unit IN LISTS ARGN)
    lathe_isa_of(${unit} isa)
    list(APPEND isas ${isa})
    list(APPEND ${isa}_units sources/${unit})
  endforeach()
  list(REMOVE_DUPLICATES isas)
  foreach(isa IN LISTS isas)
    set(target ${kind}_${isa})
    add_library(${target} OBJECT ${${isa}_units})
    target_compile_options(${target} PRIVATE ${flags})
    target_include_directories(${target} PRIVATE ${sources} ${sources}/native/include ${sources}/include)
    if(kind STREQUAL "silent")
      target_compile_definitions(${target} PRIVATE LATHE_NO_MESSAGES)
    endif()
    lathe_isa_target(${target} ${isa})
  endforeach()
endfunction()

if(LATHE_LIBRARY_UNITS)
  lathe_library_units(library ${LATHE_LIBRARY_UNITS})
endif()
if(LATHE_SILENT_UNITS)
  lathe_library_units(silent ${LATHE_SILENT_UNITS})
endif()

# Programs around a library are ordinary C++ and may use its standard library.
if(LATHE_TOOL_UNITS)
  list(TRANSFORM LATHE_TOOL_UNITS PREPEND sources/ OUTPUT_VARIABLE units)
  add_library(tool OBJECT ${units})
  lathe_tool_flags(flags PREFIX ${sources})
  target_compile_options(tool PRIVATE ${flags})
  target_include_directories(tool PRIVATE ${sources} ${sources}/native/include ${sources}/include)
endif()
