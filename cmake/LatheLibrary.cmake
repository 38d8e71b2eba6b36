# Libraries made by Lathe as targets of an app's build. docs/how-to/cmake.md is the manual.
#
#   lathe_add_library(
#     <name> DEPLOYMENT <file> [SHARED | STATIC] [EMBED] [NO_MESSAGES] [MACE_COMPAT] [PADDLE_COMPAT] [ABI <abi>]
#     [OPS <folder>...]
#   )
#     The library of a deployment file, as the imported target <name>. It is built when it is needed, with the compiler
#     and for the machine of the app, and again when anything changed that it is made from. Without SHARED or STATIC,
#     BUILD_SHARED_LIBS decides. EMBED puts the models into the library. MACE_COMPAT adds MACE's headers and calls the
#     file libmace, PADDLE_COMPAT those of Paddle-Lite and libpaddle_light_api_shared. ABI names one of Lathe's own targets, which is then built with Lathe's toolchain file for it. OPS are
#     folders of the user's own operators.
#     The target's property LATHE_MODEL_DIR is the folder of the model files. LATHE_DSP_DIR holds, where the deployment
#     file has models for the DSP, its programs: hexagon-<version>/lib<name>_skel.so.
#
#   lathe_install_library(<name> [COMPONENT <component>])
#     Installs the library with its headers, its models, its programs for the DSP, a CMake package <name> and <name>.pc.
cmake_minimum_required(VERSION 3.21...3.31)

function(lathe_add_library name)
  cmake_parse_arguments(
    PARSE_ARGV 1
    arg
    "SHARED;STATIC;EMBED;NO_MESSAGES;MACE_COMPAT;PADDLE_COMPAT"
    "DEPLOYMENT;ABI"
    "OPS"
  )
  _lathe_check("${name}" "${arg_UNPARSED_ARGUMENTS}" "${arg_KEYWORDS_MISSING_VALUES}" "${arg_DEPLOYMENT}")
  if(arg_SHARED AND arg_STATIC)
    message(FATAL_ERROR "lathe_add_library(${name}): SHARED and STATIC exclude each other")
  elseif(arg_SHARED OR (BUILD_SHARED_LIBS AND NOT arg_STATIC))
    set(type SHARED)
    set(suffix .so)
  else()
    set(type STATIC)
    set(suffix .a)
  endif()
  set(work ${CMAKE_CURRENT_BINARY_DIR}/lathe/${name})
  cmake_path(ABSOLUTE_PATH arg_DEPLOYMENT OUTPUT_VARIABLE deployment)
  _lathe_toolchain(${work} "${arg_ABI}" abi options environment needs)

  # The name is given, so that it is known before the deployment file is read.
  get_property(command GLOBAL PROPERTY LATHE_COMMAND)
  get_property(made_before GLOBAL PROPERTY LATHE_DEPENDS)
  list(
    APPEND command
    build
    ${deployment}
    --library-name
    ${name}
    --output
    ${work}
    --no-archive
    --quiet
    --abi
    ${abi}
  )
  list(APPEND command ${options} --depfile ${work}.d ${work}.stamp)
  if(arg_EMBED)
    list(APPEND command --model-graph-format code --model-data-format code)
  endif()
  if(arg_NO_MESSAGES)
    list(APPEND command --no-messages)
  endif()
  set(stem ${name})
  if(arg_MACE_COMPAT)
    list(APPEND command --mace-compat)
    set(stem mace)
  endif()
  if(arg_PADDLE_COMPAT)
    list(APPEND command --paddle-compat)
    set(stem paddle_light_api_shared)
  endif()
  foreach(folder IN LISTS arg_OPS)
    cmake_path(ABSOLUTE_PATH folder)
    list(APPEND command --op-path ${folder})
  endforeach()

  # Files that did not change keep their times, so the stamp is the declared output.
  set(output ${work}/${name})
  set(library ${output}/lib/${abi}/lib${stem}${suffix})
  add_custom_command(
    OUTPUT ${work}.stamp
    BYPRODUCTS ${library}
    COMMAND ${CMAKE_COMMAND} -E env ${environment} ${command}
    COMMAND ${CMAKE_COMMAND} -E touch ${work}.stamp
    DEPENDS ${deployment} ${needs} ${made_before}
    DEPFILE ${work}.d
    COMMENT "Building ${name} with Lathe"
    VERBATIM
  )
  add_custom_target(${name}_lathe DEPENDS ${work}.stamp)

  file(MAKE_DIRECTORY ${output}/include)
  add_library(${name} ${type} IMPORTED GLOBAL)
  add_dependencies(${name} ${name}_lathe)
  set_target_properties(
    ${name}
    PROPERTIES
      IMPORTED_LOCATION ${library}
      INTERFACE_INCLUDE_DIRECTORIES ${output}/include
      LATHE_MODEL_DIR ${output}/model/${abi}
      LATHE_DSP_DIR ${output}/lib
  )
  if(type STREQUAL "STATIC")
    _lathe_system_libraries(libraries)
    set_target_properties(${name} PROPERTIES INTERFACE_LINK_LIBRARIES "${libraries}")
  endif()
endfunction()

function(lathe_install_library name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "COMPONENT" "")
  if(arg_UNPARSED_ARGUMENTS OR NOT TARGET ${name}_lathe)
    message(FATAL_ERROR "lathe_install_library(<name> [COMPONENT <component>]): <name> is of lathe_add_library")
  endif()
  include(GNUInstallDirs)
  include(CMakePackageConfigHelpers)
  set(component)
  if(arg_COMPONENT)
    set(component COMPONENT ${arg_COMPONENT})
  endif()
  get_target_property(library ${name} IMPORTED_LOCATION)
  get_target_property(include_dir ${name} INTERFACE_INCLUDE_DIRECTORIES)
  get_target_property(model_dir ${name} LATHE_MODEL_DIR)
  get_target_property(dsp_dir ${name} LATHE_DSP_DIR)
  cmake_path(GET library PARENT_PATH abi_dir)
  cmake_path(GET abi_dir FILENAME abi)
  install(FILES ${library} DESTINATION ${CMAKE_INSTALL_LIBDIR} ${component})
  install(DIRECTORY ${include_dir}/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} ${component})
  install(DIRECTORY ${model_dir}/ DESTINATION ${CMAKE_INSTALL_DATADIR}/${name} ${component} OPTIONAL)
  install(
    DIRECTORY ${dsp_dir}/
    DESTINATION ${CMAKE_INSTALL_LIBDIR}
    ${component}
    FILES_MATCHING
    PATTERN "*_skel.so"
    PATTERN ${abi} EXCLUDE
  )

  # What the templates say of the library.
  get_target_property(type ${name} TYPE)
  string(REPLACE "_LIBRARY" "" LIBRARY_TYPE ${type})
  set(LIBRARY_NAME ${name})
  cmake_path(GET library FILENAME LIBRARY_FILE)
  cmake_path(GET library STEM LAST_ONLY LIBRARY_STEM)
  string(REGEX REPLACE "^lib" "" LIBRARY_STEM ${LIBRARY_STEM})
  set(LIBRARY_DIR ${CMAKE_INSTALL_LIBDIR})
  set(INCLUDE_DIR ${CMAKE_INSTALL_INCLUDEDIR})
  set(MODEL_DIR ${CMAKE_INSTALL_DATADIR}/${name})
  set(LIBRARY_LINKS)
  if(LIBRARY_TYPE STREQUAL "STATIC")
    _lathe_system_libraries(LIBRARY_LINKS)
  endif()
  list(TRANSFORM LIBRARY_LINKS PREPEND -l OUTPUT_VARIABLE flags)
  list(JOIN flags " " LINK_FLAGS)
  set(LIBRARY_VERSION ${PROJECT_VERSION})
  if(NOT LIBRARY_VERSION)
    set(LIBRARY_VERSION 0)
  endif()
  set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/${name})
  cmake_path(
    RELATIVE_PATH CMAKE_INSTALL_PREFIX
    BASE_DIRECTORY ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig
    OUTPUT_VARIABLE UP
  )
  set(made ${CMAKE_CURRENT_BINARY_DIR}/lathe/${name}-package)
  configure_package_config_file(
    ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/LatheLibraryConfig.cmake.in
    ${made}/${name}Config.cmake
    INSTALL_DESTINATION ${package_dir}
    PATH_VARS LIBRARY_DIR INCLUDE_DIR MODEL_DIR
    NO_CHECK_REQUIRED_COMPONENTS_MACRO
  )
  write_basic_package_version_file(
    ${made}/${name}ConfigVersion.cmake
    VERSION ${LIBRARY_VERSION}
    COMPATIBILITY SameMajorVersion
  )
  configure_file(${CMAKE_CURRENT_FUNCTION_LIST_DIR}/LatheLibrary.pc.in ${made}/${name}.pc @ONLY)
  install(FILES ${made}/${name}Config.cmake ${made}/${name}ConfigVersion.cmake DESTINATION ${package_dir} ${component})
  install(FILES ${made}/${name}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig ${component})
endfunction()

# Complains about what lathe_add_library was given.
function(_lathe_check name unknown without_value deployment)
  set(
    usage
    "lathe_add_library(<name> DEPLOYMENT <file> [SHARED|STATIC] [EMBED] [NO_MESSAGES] [ABI <abi>] [OPS <folder>...])"
  )
  if(unknown OR without_value)
    message(FATAL_ERROR "lathe_add_library(${name}): not understood: ${unknown} ${without_value}\n${usage}")
  endif()
  cmake_path(ABSOLUTE_PATH deployment OUTPUT_VARIABLE file)
  if(NOT deployment OR NOT EXISTS ${file})
    message(FATAL_ERROR "lathe_add_library(${name}): there is no deployment file '${deployment}'\n${usage}")
  endif()
  if(NOT CMAKE_CXX_COMPILER)
    message(FATAL_ERROR "lathe_add_library(${name}) needs a C++ compiler: add CXX to the languages of project()")
  endif()
endfunction()

# Which ABI is built and how: the app's own machine and compiler, or an ABI of Lathe's. `needs`: files that decide it.
function(
  _lathe_toolchain
  work
  wanted
  abi
  options
  environment
  needs
)
  set(${options} "" PARENT_SCOPE)
  set(${needs} "" PARENT_SCOPE)
  _lathe_launcher(launcher)
  set(variables)
  if(launcher)
    list(APPEND variables "LATHE_COMPILER_LAUNCHER=${launcher}")
  endif()
  if(wanted)
    set(found ${wanted})
  elseif(CMAKE_CROSSCOMPILING OR CMAKE_TOOLCHAIN_FILE OR CMAKE_CXX_COMPILER_TARGET OR CMAKE_SYSROOT)
    _lathe_name_abi(found)
    _lathe_write_toolchain(${work}.toolchain.cmake)
    set(${options} --toolchain ${work}.toolchain.cmake PARENT_SCOPE)
    set(${needs} ${work}.toolchain.cmake ${CMAKE_TOOLCHAIN_FILE} PARENT_SCOPE)
  else()
    set(found host)
    list(APPEND variables "CXX=${CMAKE_CXX_COMPILER}")
  endif()
  set(${abi} ${found} PARENT_SCOPE)
  set(${environment} "${variables}" PARENT_SCOPE)
endfunction()

# The words before each call of a compiler: those of the app, else ccache where there is one.
function(_lathe_launcher out)
  find_program(LATHE_CCACHE ccache NO_CMAKE_FIND_ROOT_PATH DOC "Used where the app has no CMAKE_CXX_COMPILER_LAUNCHER")
  mark_as_advanced(LATHE_CCACHE)
  set(words ${CMAKE_CXX_COMPILER_LAUNCHER})
  if(NOT DEFINED CMAKE_CXX_COMPILER_LAUNCHER AND LATHE_CCACHE)
    set(words ${LATHE_CCACHE})
  endif()
  list(JOIN words " " line)
  set(${out} "${line}" PARENT_SCOPE)
endfunction()

# What to call the machine of the app.
function(_lathe_name_abi out)
  if(ANDROID AND ANDROID_ABI) # the variable of the NDK's toolchain file
    set(${out} ${ANDROID_ABI} PARENT_SCOPE)
    return()
  endif()
  foreach(candidate IN ITEMS "${CMAKE_ANDROID_ARCH_ABI}" "${CMAKE_CXX_COMPILER_TARGET}" "${CMAKE_LIBRARY_ARCHITECTURE}")
    if(candidate)
      set(${out} ${candidate} PARENT_SCOPE)
      return()
    endif()
  endforeach()
  string(TOLOWER "${CMAKE_SYSTEM_NAME}-${CMAKE_SYSTEM_PROCESSOR}" name)
  set(${out} ${name} PARENT_SCOPE)
endfunction()

# A toolchain file that gives what the app was configured with: its own toolchain file, with what that was told on the
# command line, and then exactly the tools that were found.
function(_lathe_write_toolchain file)
  set(lines "# Generated by lathe_add_library: the toolchain of this build.\n")
  set(first CMAKE_TRY_COMPILE_PLATFORM_VARIABLES ${CMAKE_TRY_COMPILE_PLATFORM_VARIABLES})
  if(CMAKE_CROSSCOMPILING)
    list(APPEND first CMAKE_SYSTEM_NAME CMAKE_SYSTEM_PROCESSOR CMAKE_SYSTEM_VERSION)
  endif()
  set(
    last
    CMAKE_CXX_COMPILER
    CMAKE_CXX_COMPILER_TARGET
    CMAKE_SYSROOT
    CMAKE_AR
    CMAKE_OBJCOPY
  )
  foreach(variable IN LISTS first)
    if(DEFINED ${variable})
      string(APPEND lines "set(${variable} [==[${${variable}}]==])\n")
    endif()
  endforeach()
  if(CMAKE_TOOLCHAIN_FILE)
    cmake_path(ABSOLUTE_PATH CMAKE_TOOLCHAIN_FILE BASE_DIRECTORY ${CMAKE_BINARY_DIR} OUTPUT_VARIABLE toolchain)
    string(APPEND lines "include([==[${toolchain}]==])\n")
  endif()
  foreach(variable IN LISTS last)
    if(${variable})
      string(APPEND lines "set(${variable} [==[${${variable}}]==])\n")
    endif()
  endforeach()
  file(CONFIGURE OUTPUT ${file} CONTENT "${lines}" @ONLY)
endfunction()

function(_lathe_system_libraries out)
  set(libraries m dl) # the latter for those that find OpenCL when they run
  if(NOT ANDROID) # its C library holds the threads
    list(APPEND libraries pthread)
  endif()
  set(${out} "${libraries}" PARENT_SCOPE)
endfunction()
