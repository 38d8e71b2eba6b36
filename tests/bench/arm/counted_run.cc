// Runs a model of a tailored library for the plugin that counts: warm, on one thread, between markers.
//
//   counted_run LIBRARY SYMBOL MODEL.pb MODEL.data
//
// After two runs that only warm up come: marker 0, a run, marker 1, then a run with a marker 2 in front and one behind
// each node. A line per node (index, operator, kernel, separated by tabs) goes to standard output.
#include <dlfcn.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdio>
#include <vector>

#include "lathe/c_api.h"

namespace {

struct Node {
  uint32_t index;
  const char* op;
  const char* kernel;
};

void Marker(long number) { syscall(SYS_getpgid, 0x7A0000 + number); }

void Note(void* user, const lathe_node_event* event) {
  static_cast<std::vector<Node>*>(user)->push_back({event->index, event->op, event->kernel});
  Marker(2);
}

void FillInputs(const lathe_api* api, lathe_engine* engine, lathe_session* session, lathe_error* error) {
  for (size_t i = 0; i < api->input_count(engine); ++i) {
    lathe_tensor_info info = {};
    info.struct_size = sizeof(info);
    void* data = nullptr;
    size_t bytes = 0;
    if (api->input_info(session, i, &info, error) != LATHE_OK || info.dtype != LATHE_F32) continue;
    if (api->input_data(session, i, &data, &bytes, error) != LATHE_OK) continue;
    uint32_t state = 12345;
    for (size_t k = 0; k < bytes / 4; ++k) {
      state = state * 1664525u + 1013904223u;
      static_cast<float*>(data)[k] = static_cast<float>(state >> 8) / 8388608.0f - 1.0f;
    }
  }
}

bool Run(const lathe_api* api, const char* model, const char* data, lathe_error* error) {
  lathe_engine_options options = {};
  options.struct_size = sizeof(options);
  options.num_threads = 1;
  options.model_path = model;
  options.data_path = data;
  lathe_engine* engine = nullptr;
  lathe_session* session = nullptr;
  if (api->engine_create(&options, &engine, error) != LATHE_OK) return false;
  if (api->session_create(engine, nullptr, &session, error) != LATHE_OK) return false;
  FillInputs(api, engine, session, error);
  for (int i = 0; i < 2; ++i)
    if (api->run(session, error) != LATHE_OK) return false;
  Marker(0);
  if (api->run(session, error) != LATHE_OK) return false;
  Marker(1);
  std::vector<Node> nodes;
  nodes.reserve(1 << 16);
  api->set_observer(session, Note, &nodes);
  Marker(2);
  if (api->run(session, error) != LATHE_OK) return false;
  for (const Node& node : nodes) std::printf("%u\t%s\t%s\n", node.index, node.op, node.kernel);
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5) return 2;
  void* library = dlopen(argv[1], RTLD_NOW);
  using GetApi = const lathe_api* (*)();
  const GetApi get = library != nullptr ? reinterpret_cast<GetApi>(dlsym(library, argv[2])) : nullptr;
  if (get == nullptr) {
    std::fprintf(stderr, "%s\n", dlerror());
    return 1;
  }
  lathe_error error = {};
  if (Run(get(), argv[3], argv[4], &error)) return 0;
  std::fprintf(stderr, "%s\n", error.message);
  return 1;
}
