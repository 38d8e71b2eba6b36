# The compiler flags of all code that goes into a library: no C++ runtime, nothing that depends on the place or time of
# the build. LatheIsa.cmake adds what one instruction set needs, and nobody adds anything else.
#
#   lathe_flags(<variable> [PREFIX <folder>...])   the flags as a list; folders vanish from the names in the objects
function(lathe_flags out)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "PREFIX")
  set(
    flags
    -std=c++17
    -O2
    -fPIC
    -fvisibility=hidden
    -ffunction-sections
    -fdata-sections
    -fno-exceptions
    -fno-rtti
    -fno-threadsafe-statics
    -fno-asynchronous-unwind-tables
    -fno-unwind-tables
    -ffp-contract=off
    -fno-math-errno
    -nostdinc++
    -Wall
    -Wextra
    -Werror
  )
  foreach(prefix IN LISTS arg_PREFIX)
    list(APPEND flags "-ffile-prefix-map=${prefix}/=")
  endforeach()
  set(${out} ${flags} PARENT_SCOPE)
endfunction()
