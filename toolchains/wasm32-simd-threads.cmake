# WebAssembly modules with vectors of 128 bits whose threads are workers of the page, which share the memory.
set(LATHE_WASM_FEATURES "-msimd128 -matomics")
include(${CMAKE_CURRENT_LIST_DIR}/wasm32.cmake)
