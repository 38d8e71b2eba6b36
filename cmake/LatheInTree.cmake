# Lathe as a part of an app's build, from its sources (add_subdirectory, FetchContent): the functions of LatheLibrary.cmake,
# and a Python package in the build folder that is links into the sources and what is generated from them. Python has to
# have the packages that Lathe needs; nothing is installed and nothing is written into the sources.
include(${CMAKE_CURRENT_LIST_DIR}/LatheLibrary.cmake)

if(LATHE_EXECUTABLE)
  set_property(GLOBAL PROPERTY LATHE_COMMAND ${LATHE_EXECUTABLE})
  return()
endif()

find_package(Python 3.10 REQUIRED COMPONENTS Interpreter)
execute_process(
  COMMAND
    ${Python_EXECUTABLE} -c
    "import elftools, grpc_tools, google.protobuf, h5py, jinja2, numpy, onnx, pydantic, rich, tflite, typer, yaml"
  RESULT_VARIABLE missing
  ERROR_VARIABLE problem
)
if(missing)
  string(REGEX REPLACE ".*\n(ModuleNotFoundError[^\n]*).*" "\\1" problem "${problem}")
  message(
    FATAL_ERROR
    "Lathe cannot run with ${Python_EXECUTABLE}: ${problem}\n"
    "Install what it needs with `${Python_EXECUTABLE} -m pip install lathe-build grpcio-tools`, name another one with "
    "-DPython_EXECUTABLE=FILE, or an installed Lathe with -DLATHE_EXECUTABLE=FILE."
  )
endif()

set(python_dir ${PROJECT_BINARY_DIR}/python)
file(GLOB parts CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR} buildtool/* buildtool/schemas/*)
list(FILTER parts EXCLUDE REGEX "/schemas$|_pb2\\.pyi?$|__pycache__|\\.so$")
file(MAKE_DIRECTORY ${python_dir}/buildtool/schemas)
foreach(part IN LISTS parts)
  if(NOT EXISTS ${python_dir}/${part})
    file(CREATE_LINK ${PROJECT_SOURCE_DIR}/${part} ${python_dir}/${part} SYMBOLIC)
  endif()
endforeach()
file(
  CONFIGURE
  OUTPUT ${python_dir}/lathe_build-${PROJECT_VERSION}.dist-info/METADATA
  CONTENT "Metadata-Version: 2.1\nName: lathe-build\nVersion: ${PROJECT_VERSION}\n"
)
# Lathe finds its targets through these, here as in an installed package.
file(STRINGS ${PROJECT_SOURCE_DIR}/pyproject.toml lines)
set(entry_points)
set(inside OFF)
foreach(line IN LISTS lines)
  if(line MATCHES "^\\[project\\.entry-points\\.\"?([a-z.]+)\"?\\]$")
    string(APPEND entry_points "[${CMAKE_MATCH_1}]\n")
    set(inside ON)
  elseif(line MATCHES "^\\[")
    set(inside OFF)
  elseif(inside AND line MATCHES "^([A-Za-z0-9_-]+) = \"(.*)\"$")
    string(APPEND entry_points "${CMAKE_MATCH_1} = ${CMAKE_MATCH_2}\n")
  endif()
endforeach()
file(CONFIGURE OUTPUT ${python_dir}/lathe_build-${PROJECT_VERSION}.dist-info/entry_points.txt CONTENT "${entry_points}")
file(GLOB schemas CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/buildtool/schemas/*.proto)
set(modules)
foreach(schema IN LISTS schemas)
  cmake_path(GET schema STEM name)
  set(module ${python_dir}/buildtool/schemas/${name}_pb2.py)
  add_custom_command(
    OUTPUT ${module}
    COMMAND ${Python_EXECUTABLE} -m grpc_tools.protoc -I ${PROJECT_SOURCE_DIR} --python_out=${python_dir} ${schema}
    DEPENDS ${schema}
    COMMENT "Generating ${name}_pb2.py"
    VERBATIM
  )
  list(APPEND modules ${module})
endforeach()
add_custom_target(lathe_schemas DEPENDS ${modules})

cmake_path(CONVERT "$ENV{PYTHONPATH}" TO_CMAKE_PATH_LIST python_path)
list(PREPEND python_path ${python_dir})
cmake_path(CONVERT "${python_path}" TO_NATIVE_PATH_LIST python_path)
set_property(
  GLOBAL
  PROPERTY
    LATHE_COMMAND
      ${CMAKE_COMMAND}
      -E
      env
      PYTHONPATH=${python_path}
      PYTHONPYCACHEPREFIX=${PROJECT_BINARY_DIR}/pycache
      ${Python_EXECUTABLE}
      -c
      "__import__('buildtool.cli.main', fromlist=['main']).main()"
)
set_property(GLOBAL PROPERTY LATHE_DEPENDS lathe_schemas)
