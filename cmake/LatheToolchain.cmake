# Says what a toolchain file leads to. The builder copies this file as CMakeLists.txt into an empty folder and configures
# it with the toolchain file; `facts.txt` then holds a line `<name>=<value>` for everything that decides what objects are
# made, and `macros.txt` what the compiler defines.
cmake_minimum_required(VERSION 3.25)
project(LatheToolchain LANGUAGES CXX)

set(compiler ${CMAKE_CXX_COMPILER})
separate_arguments(flags UNIX_COMMAND "${CMAKE_CXX_COMPILER_ARG1} ${CMAKE_CXX_FLAGS}")
if(CMAKE_CXX_COMPILER_TARGET)
  list(APPEND flags ${CMAKE_CXX_COMPILE_OPTIONS_TARGET}${CMAKE_CXX_COMPILER_TARGET})
endif()
if(CMAKE_SYSROOT)
  list(APPEND flags ${CMAKE_CXX_COMPILE_OPTIONS_SYSROOT}${CMAKE_SYSROOT})
endif()

# Without features.h there is no C library of the usual kind, and nothing of it to note down.
file(WRITE ${CMAKE_BINARY_DIR}/probe.cc "#if __has_include(<features.h>)\n#include <features.h>\n#endif\n")
execute_process(
  COMMAND ${compiler} ${flags} -std=c++17 -E -dM ${CMAKE_BINARY_DIR}/probe.cc
  OUTPUT_FILE ${CMAKE_BINARY_DIR}/macros.txt
  COMMAND_ERROR_IS_FATAL ANY
)
execute_process(COMMAND ${compiler} ${flags} --version OUTPUT_VARIABLE version COMMAND_ERROR_IS_FATAL ANY)
string(REGEX REPLACE "\n.*" "" version "${version}")

set(facts "version=${version}\ncompiler=${compiler}\n")
foreach(
  name
  IN
  ITEMS
    CMAKE_AR
    CMAKE_OBJCOPY
    CMAKE_SYSTEM_NAME
    CMAKE_SYSTEM_PROCESSOR
    CMAKE_SYSROOT
    CMAKE_CXX_COMPILER_ID
    CMAKE_CXX_COMPILER_VERSION
    CMAKE_CXX_COMPILER_TARGET
    CMAKE_CXX_FLAGS
    CMAKE_SHARED_LINKER_FLAGS
    CMAKE_EXECUTABLE_FORMAT
)
  string(APPEND facts "${name}=${${name}}\n")
endforeach()
file(WRITE ${CMAKE_BINARY_DIR}/facts.txt "${facts}")
