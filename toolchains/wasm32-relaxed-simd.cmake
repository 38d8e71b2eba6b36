# WebAssembly modules with vectors of 128 bits and their relaxed instructions: fused sums, where the processor has them.
set(LATHE_WASM_FEATURES "-msimd128 -mrelaxed-simd")
include(${CMAKE_CURRENT_LIST_DIR}/wasm32.cmake)
