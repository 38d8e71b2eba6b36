# find_package(Lathe CONFIG): the functions of LatheLibrary.cmake, and the command `lathe` that stands behind them.
#
#   cmake -S . -B build -DLathe_DIR="$(lathe where cmake)"
#
# LATHE_EXECUTABLE names the command; else it is the one that was installed together with this file, or one on the PATH.
include(${CMAKE_CURRENT_LIST_DIR}/LatheLibrary.cmake)

# A wheel puts this file into <prefix>/lib/pythonX.Y/site-packages/buildtool/_resources/cmake and the command into
# <prefix>/bin; a source tree has it in .venv.
cmake_path(SET lathe_prefix NORMALIZE "${CMAKE_CURRENT_LIST_DIR}/../../../../../..")
cmake_path(SET lathe_source NORMALIZE "${CMAKE_CURRENT_LIST_DIR}/..")
find_program(
  LATHE_EXECUTABLE
  lathe
  HINTS ${lathe_prefix}/bin ${lathe_source}/.venv/bin
  NO_CMAKE_FIND_ROOT_PATH
  DOC "The command of Lathe"
)
if(LATHE_EXECUTABLE)
  set_property(GLOBAL PROPERTY LATHE_COMMAND ${LATHE_EXECUTABLE})
else()
  set(Lathe_FOUND FALSE)
  set(
    Lathe_NOT_FOUND_MESSAGE
    "The command `lathe` is missing: install it with `pip install lathe-build`, or name it with -DLATHE_EXECUTABLE=FILE"
  )
endif()
unset(lathe_prefix)
unset(lathe_source)
