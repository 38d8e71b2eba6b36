# WebAssembly modules with vectors of 128 bits, fused sums, and workers of the page as threads.
set(LATHE_WASM_FEATURES "-msimd128 -mrelaxed-simd -matomics")
include(${CMAKE_CURRENT_LIST_DIR}/wasm32.cmake)
