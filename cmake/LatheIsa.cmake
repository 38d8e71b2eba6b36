# The only place that knows which compiler flags an instruction set needs. A kernel's file name ends in the word:
# <op>_<dtype>_<variant>__<isa>.cc.
#
#   lathe_isa_flags(<isa> <variable>)      the flags of a word; an unknown word is an error
#   lathe_isa_of(<file> <variable>)        the word in a file's name; `portable` for files that are no kernels
set(LATHE_ISA_FLAGS_portable "")

function(lathe_isa_flags isa out)
  if(NOT DEFINED LATHE_ISA_FLAGS_${isa})
    message(FATAL_ERROR "'${isa}' is not an instruction set: cmake/LatheIsa.cmake lists them")
  endif()
  set(${out} "${LATHE_ISA_FLAGS_${isa}}" PARENT_SCOPE)
endfunction()

function(lathe_isa_of file out)
  if(file MATCHES "__([a-z0-9]+)\\.cc$")
    set(${out} ${CMAKE_MATCH_1} PARENT_SCOPE)
  else()
    set(${out} portable PARENT_SCOPE)
  endif()
endfunction()
