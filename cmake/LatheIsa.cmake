# The only place that knows which compiler flags an instruction set needs. A kernel's file name ends in the word:
# <op>_<dtype>_<variant>__<isa>.cc.
#
#   lathe_isa_flags(<isa> <variable>)      the flags of a word; an unknown word is an error
#   lathe_isa_of(<file> <variable>)        the word in a file's name; that of their room for files of native/opencl
#                                          and native/hexagon; `portable` for others that are no kernels
#   lathe_isas(<variable>)                 the words of the architecture that is compiled for, the best first
set(LATHE_ISA_FLAGS_portable "")
set(
  LATHE_ISA_FLAGS_avx512
  -mavx512f
  -mavx512vl
  -mavx512bw
  -mavx512dq
  -mfma
  -mf16c
)
set(LATHE_ISA_FLAGS_vnni ${LATHE_ISA_FLAGS_avx512} -mavx512vnni)
set(LATHE_ISA_FLAGS_avx2 -mavx2 -mfma -mf16c)
set(LATHE_ISA_FLAGS_neon "")
set(LATHE_ISA_FLAGS_fp16 -march=armv8.2-a+fp16)
set(LATHE_ISA_FLAGS_dotprod -march=armv8.2-a+dotprod)
set(LATHE_ISA_FLAGS_i8mm -march=armv8.2-a+dotprod+i8mm)
set(LATHE_ISA_FLAGS_neonv7 -march=armv7-a -mfpu=neon-vfpv4)
if(NOT CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  list(APPEND LATHE_ISA_FLAGS_neonv7 -mfp16-format=ieee) # Clang knows no other format
endif()
set(LATHE_ISA_FLAGS_simd128 "") # of whole modules: toolchains/wasm32-simd.cmake
set(LATHE_ISA_FLAGS_rvv -march=rv64gcv)
set(LATHE_ISA_FLAGS_opencl "") # arithmetic is the device's: the host's part gets the flags of the runtime
set(LATHE_ISA_FLAGS_hexagon "") # alike
set(LATHE_ISA_FLAGS_hvx "") # of programs on the DSP: toolchains/hexagon.cmake

function(lathe_isa_flags isa out)
  if(NOT DEFINED LATHE_ISA_FLAGS_${isa})
    message(FATAL_ERROR "'${isa}' is not an instruction set: cmake/LatheIsa.cmake lists them")
  endif()
  set(${out} "${LATHE_ISA_FLAGS_${isa}}" PARENT_SCOPE)
endfunction()

function(lathe_isa_of file out)
  if(file MATCHES "__([a-z0-9]+)\\.cc$")
    set(${out} ${CMAKE_MATCH_1} PARENT_SCOPE)
  elseif(file MATCHES "native/opencl/.*\\.cc$")
    set(${out} opencl PARENT_SCOPE)
  elseif(file MATCHES "native/hexagon/.*\\.cc$")
    set(${out} hexagon PARENT_SCOPE)
  else()
    set(${out} portable PARENT_SCOPE)
  endif()
endfunction()

function(lathe_isas out)
  if(CMAKE_SYSTEM_PROCESSOR STREQUAL "x86_64")
    set(isas vnni avx512 avx2)
  elseif(CMAKE_SYSTEM_PROCESSOR STREQUAL "aarch64")
    set(isas i8mm dotprod fp16 neon)
  elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "^arm")
    set(isas neonv7)
  elseif(CMAKE_SYSTEM_PROCESSOR STREQUAL "wasm32")
    set(isas simd128)
  elseif(CMAKE_SYSTEM_PROCESSOR STREQUAL "riscv64")
    set(isas rvv)
  else()
    set(isas "")
  endif()
  set(${out} ${isas} portable PARENT_SCOPE)
endfunction()
