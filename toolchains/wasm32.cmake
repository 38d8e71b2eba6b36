# WebAssembly modules, without vectors: LLVM and wasi-libc (Debian: clang-19, lld-19, wasi-libc, libclang-rt-19-dev-wasm32).
# What a page has no use for, native/wasm replaces. Position-independent code is for modules that load each other.
set(CMAKE_SYSTEM_NAME Linux) # which decides how files are called, and nothing else
set(CMAKE_SYSTEM_PROCESSOR wasm32)
set(CMAKE_CXX_COMPILER clang++-19 CACHE STRING "")
set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)
set(LATHE_WASI_ROOT /usr CACHE PATH "of wasi-libc")
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES LATHE_WASI_ROOT)
string(
  CONCAT CMAKE_CXX_FLAGS_INIT
  "--target=wasm32-wasi ${LATHE_WASM_FEATURES} -mbulk-memory -msign-ext -mnontrapping-fptoint -nostdlibinc -isystem ${LATHE_WASI_ROOT}/include/wasm32-wasi"
)
