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

function(lathe_library_units target)
  lathe_flags(flags PREFIX ${sources})
  list(TRANSFORM ARGN PREPEND sources/ OUTPUT_VARIABLE units)
  add_library(${target} OBJECT ${units})
  target_compile_options(${target} PRIVATE ${flags})
  target_include_directories(${target} PRIVATE ${sources} ${sources}/native/include ${sources}/include)
  foreach(unit IN LISTS units)
    lathe_unit_flags(${unit} unit_flags)
    set_source_files_properties(${unit} PROPERTIES COMPILE_OPTIONS "${unit_flags}")
  endforeach()
endfunction()

if(LATHE_LIBRARY_UNITS)
  lathe_library_units(library_units ${LATHE_LIBRARY_UNITS})
endif()
if(LATHE_SILENT_UNITS)
  lathe_library_units(silent_units ${LATHE_SILENT_UNITS})
  target_compile_definitions(silent_units PRIVATE LATHE_NO_MESSAGES)
endif()

# Programs around a library are ordinary C++ and may use its standard library.
if(LATHE_TOOL_UNITS)
  list(TRANSFORM LATHE_TOOL_UNITS PREPEND sources/ OUTPUT_VARIABLE units)
  add_library(tool_units OBJECT ${units})
  lathe_tool_flags(flags PREFIX ${sources})
  target_compile_options(tool_units PRIVATE ${flags})
  target_include_directories(tool_units PRIVATE ${sources} ${sources}/native/include ${sources}/include)
endif()
