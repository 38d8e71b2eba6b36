# WebAssembly modules with vectors of 128 bits, which browsers have had since 2021 to 2023.
set(LATHE_WASM_FEATURES "-msimd128")
include(${CMAKE_CURRENT_LIST_DIR}/wasm32.cmake)
