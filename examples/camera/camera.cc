// Classifies a frame of a camera: camera MODEL DATA FRAME WIDTH HEIGHT
//
// FRAME is a file with the bytes of an NV21 image. One call converts, resizes and normalises it and runs the network.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <vector>

#include "lathe/camera.h"
#include "lathe/engine.h"

namespace {

struct Times {
  int64_t image = 0, network = 0;  // nanoseconds
};

void Observe(void* user, const lathe_node_event* event) {
  Times* times = static_cast<Times*>(user);
  (event->index == LATHE_NO_NODE ? times->image : times->network) += event->end_ns - event->start_ns;
}

int Failed(const lathe::Status& status) {
  std::fprintf(stderr, "camera: %s\n", status.message().c_str());
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 6) return 2;
  lathe::EngineOptions options;
  options.model_path = argv[1];
  options.data_path = argv[2];
  auto engine = lathe::Engine::Create(lathe_api_camera(), options);
  if (!engine.ok()) return Failed(engine.status());
  auto session = engine->CreateSession();
  if (!session.ok()) return Failed(session.status());

  std::ifstream file(argv[3], std::ios::binary);
  std::vector<uint8_t> frame((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  lathe_image image = {};
  image.struct_size = sizeof(image);
  image.pixels = LATHE_NV21;
  image.width = std::atoi(argv[4]);
  image.height = std::atoi(argv[5]);
  image.data[0] = frame.data();
  if (image.width < 1 || image.height < 1 || frame.size() < size_t(image.width) * size_t(image.height) * 3 / 2) {
    std::fprintf(stderr, "camera: the file does not hold a frame of %dx%d pixels\n", image.width, image.height);
    return 1;
  }

  Times times;
  session->SetObserver(Observe, &times);
  const lathe::Status status = session->RunImage(image);
  if (!status.ok()) return Failed(status);
  auto scores = session->Output(0);
  int32_t best[3];
  const size_t found = session->vision()->top_k(scores->data<float>(), size_t(scores->size()), 3, best);
  for (size_t i = 0; i < found; ++i) std::printf("%d %.3f\n", best[i], scores->data<float>()[best[i]]);
  std::printf("image %lld us, network %lld us\n", static_cast<long long>(times.image / 1000),
              static_cast<long long>(times.network / 1000));
  return 0;
}
