// A program for Paddle-Lite's C++ interface. It compiles against Paddle-Lite's headers and against those of a library
// that `lathe build --paddle-compat` has made.
//
//   app MODEL PICTURES.raw COUNT [THREADS [POWER_MODE]]
//
// MODEL is a model file, or the name of a model in the library. PICTURES.raw holds floats of 8 x 8 pixels.
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "paddle_api.h"
#include "paddle_use_kernels.h"
#include "paddle_use_ops.h"

using namespace paddle::lite_api;  // as its programs do

namespace {

std::vector<float> Read(const char* name, size_t count) {
  std::vector<float> floats(count);
  std::ifstream file(name, std::ios::binary);
  if (!file.read(reinterpret_cast<char*>(floats.data()), static_cast<std::streamsize>(count * sizeof(float)))) {
    std::fprintf(stderr, "%s: cannot read %zu floats\n", name, count);
    std::exit(1);
  }
  return floats;
}

int64_t Size(const shape_t& shape) {
  int64_t size = 1;
  for (const int64_t dimension : shape) size *= dimension;
  return size;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) {
    std::fprintf(stderr, "app MODEL PICTURES.raw COUNT [THREADS [POWER_MODE]]\n");
    return 2;
  }
  MobileConfig config;
  config.set_model_from_file(argv[1]);
  config.set_threads(argc > 4 ? std::atoi(argv[4]) : 1);
  config.set_power_mode(static_cast<PowerMode>(argc > 5 ? std::atoi(argv[5]) : LITE_POWER_NO_BIND));
  const std::shared_ptr<PaddlePredictor> predictor = CreatePaddlePredictor<MobileConfig>(config);
  std::printf("%s -> %s\n", predictor->GetInputNames()[0].c_str(), predictor->GetOutputNames()[0].c_str());

  const size_t count = static_cast<size_t>(std::atoi(argv[3]));
  const std::vector<float> pictures = Read(argv[2], count * 64);
  std::unique_ptr<Tensor> input(std::move(predictor->GetInput(0)));
  input->Resize({1, 1, 8, 8});
  for (size_t i = 0; i < count; ++i) {
    input->CopyFromCpu<float, TargetType::kHost>(pictures.data() + 64 * i);
    predictor->Run();
    const std::unique_ptr<const Tensor> output(std::move(predictor->GetOutput(0)));
    const float* probabilities = output->data<float>();
    int64_t best = 0;
    for (int64_t k = 1; k < Size(output->shape()); ++k) {
      if (probabilities[k] > probabilities[best]) best = k;
    }
    std::printf("%d %a\n", static_cast<int>(best), static_cast<double>(probabilities[best]));
  }
  return 0;
}
