# All folders below that hold headers.
macro(header_directories parent)
  file(GLOB_RECURSE headers "${parent}/*.h")
  foreach(header ${headers})
    get_filename_component(folder "${header}" DIRECTORY)
    include_directories("${folder}")
  endforeach()
endmacro()
