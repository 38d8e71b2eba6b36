// What a WebAssembly module has beside the C interface: functions of the page that it calls, and the layouts of the
// structs that buildtool/codegen/templates/wasm/module.mjs.j2 reads and writes.
#include <stddef.h>
#include <time.h>
#include <unistd.h>

#include "lathe/c_api.h"

extern "C" {

// The module's three imports.
__attribute__((import_module("lathe"), import_name("now"))) double lathe_wasm_now(void);  // milliseconds
__attribute__((import_module("lathe"), import_name("node"))) void lathe_wasm_node(const lathe_node_event* event);
__attribute__((import_module("lathe"), import_name("message"))) void lathe_wasm_message(const void* text, size_t size);

// Those of libc would import functions of WASI, which pages do not have.
int clock_gettime(clockid_t, timespec* now) {
  const double milliseconds = lathe_wasm_now();
  const auto nanoseconds = static_cast<int64_t>(milliseconds * 1e6);
  now->tv_sec = static_cast<time_t>(nanoseconds / 1000000000);
  now->tv_nsec = static_cast<long>(nanoseconds % 1000000000);
  return 0;
}

ssize_t write(int, const void* text, size_t size) {
  lathe_wasm_message(text, size);
  return static_cast<ssize_t>(size);
}

void abort(void) { __builtin_trap(); }

// What set_observer takes so that the page hears of every node.
__attribute__((export_name("lathe_observer"))) lathe_observer lathe_wasm_observer(void) {
  return [](void*, const lathe_node_event* event) { lathe_wasm_node(event); };
}

}  // extern "C"

namespace {

constexpr bool Functions(size_t offset, size_t index) { return offset == 16 + 4 * index; }
static_assert(offsetof(lathe_api, library) == 8 && offsetof(lathe_api, version) == 12);
static_assert(Functions(offsetof(lathe_api, kernel_count), 0) && Functions(offsetof(lathe_api, kernel_name), 1));
static_assert(Functions(offsetof(lathe_api, model_count), 2) && Functions(offsetof(lathe_api, model_at), 3));
static_assert(Functions(offsetof(lathe_api, pool_create), 4));
static_assert(Functions(offsetof(lathe_api, engine_create), 6) && Functions(offsetof(lathe_api, engine_destroy), 7));
static_assert(Functions(offsetof(lathe_api, input_count), 8) && Functions(offsetof(lathe_api, output_count), 9));
static_assert(Functions(offsetof(lathe_api, session_create), 10) &&
              Functions(offsetof(lathe_api, session_destroy), 11));
static_assert(Functions(offsetof(lathe_api, input_info), 12) && Functions(offsetof(lathe_api, output_info), 13));
static_assert(Functions(offsetof(lathe_api, resize), 14) && Functions(offsetof(lathe_api, input_data), 15));
static_assert(Functions(offsetof(lathe_api, run), 18) && Functions(offsetof(lathe_api, output_data), 19));
static_assert(Functions(offsetof(lathe_api, set_observer), 21) && Functions(offsetof(lathe_api, memory_info), 22));
static_assert(Functions(offsetof(lathe_api, value_count), 23) && Functions(offsetof(lathe_api, value_at), 24));
static_assert(sizeof(lathe_error) == 512 && offsetof(lathe_error, message) == 4);
static_assert(offsetof(lathe_engine_options, device) == 48 && offsetof(lathe_engine_options, model_name) == 8);
static_assert(offsetof(lathe_engine_options, model) == 20 && offsetof(lathe_engine_options, data) == 28);
static_assert(offsetof(lathe_engine_options, pool) == 36);
static_assert(offsetof(lathe_engine_options, isa_limit) == 44 && sizeof(lathe_session_options) == 8);
static_assert(sizeof(lathe_tensor_info) == 224 && offsetof(lathe_tensor_info, name) == 8);
static_assert(offsetof(lathe_tensor_info, rank) == 16 && offsetof(lathe_tensor_info, dims) == 24);
static_assert(offsetof(lathe_tensor_info, dims_max) == 88 && offsetof(lathe_tensor_info, dims_min) == 152);
static_assert(offsetof(lathe_tensor_info, bytes) == 216 && sizeof(lathe_shape) == 72);
static_assert(offsetof(lathe_shape, dims) == 8 && sizeof(lathe_memory_info) == 20);
static_assert(offsetof(lathe_node_event, start_ns) == 24 && offsetof(lathe_node_event, end_ns) == 32);

}  // namespace
