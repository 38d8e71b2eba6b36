// A camera's frames through a library: camera MODEL DATA FRAME PIXELS WIDTH HEIGHT RUNS OUTPUT
//
// Writes the outputs of the last run, and says what was allocated before and after the first run, and how long images
// and nodes took, in microseconds for each run. Its own allocator counts; it has the code of the library in it, too.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <string>
#include <vector>

#include "lathe/engine.h"

extern "C" const lathe_api* lathe_api_camera(void);

namespace {
size_t allocations = 0;
}

extern "C" {
void* __libc_malloc(size_t);
void* __libc_calloc(size_t, size_t);
void* __libc_realloc(void*, size_t);
void* __libc_memalign(size_t, size_t);
void* malloc(size_t bytes) { return ++allocations, __libc_malloc(bytes); }
void* calloc(size_t count, size_t bytes) { return ++allocations, __libc_calloc(count, bytes); }
void* realloc(void* old, size_t bytes) { return ++allocations, __libc_realloc(old, bytes); }
void* aligned_alloc(size_t alignment, size_t bytes) { return ++allocations, __libc_memalign(alignment, bytes); }
int posix_memalign(void** made, size_t alignment, size_t bytes) {
  *made = (++allocations, __libc_memalign(alignment, bytes));
  return 0;
}
}

namespace {

struct Times {
  int64_t image = 0, nodes = 0;
};

void Observe(void* user, const lathe_node_event* event) {
  Times* times = static_cast<Times*>(user);
  const bool is_image = event->index == LATHE_NO_NODE && strcmp(event->op, "image") == 0;
  (is_image ? times->image : times->nodes) += event->end_ns - event->start_ns;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 9) return 2;
  lathe::EngineOptions options;
  options.model_path = argv[1];
  options.data_path = argv[2];
  options.threads = 1;
  auto engine = lathe::Engine::Create(lathe_api_camera(), options);
  if (!engine.ok()) return fprintf(stderr, "%s\n", engine.status().message().c_str()), 1;
  auto session = engine->CreateSession();
  if (!session.ok()) return 1;

  std::vector<uint8_t> frame(64 << 20);
  FILE* file = fopen(argv[3], "rb");
  frame.resize(fread(frame.data(), 1, frame.size(), file));
  fclose(file);
  lathe_image image = {};
  image.struct_size = sizeof(image);
  image.pixels = static_cast<lathe_pixels>(atoi(argv[4]));
  image.width = atoi(argv[5]);
  image.height = atoi(argv[6]);
  image.data[0] = frame.data();

  Times times;
  session->SetObserver(Observe, &times);
  lathe_placement placement;
  lathe::Status status = session->RunImage(image, &placement);
  if (!status.ok()) return fprintf(stderr, "%d: %s\n", status.code(), status.message().c_str()), 3;
  times = Times();
  const size_t before = allocations;
  const int runs = atoi(argv[7]);
  for (int run = 0; run < runs; ++run) {
    if (session->vision()->run_image == nullptr || !session->RunImage(image, &placement).ok()) return 4;
  }
  printf("%zu %zu %.1f %.1f\n", before, allocations - before, times.image / 1e3 / runs, times.nodes / 1e3 / runs);
  auto output = session->Output(0);
  file = fopen(argv[8], "wb");
  fwrite(output->bytes(), 1, output->byte_size(), file);
  fclose(file);
  return 0;
}
