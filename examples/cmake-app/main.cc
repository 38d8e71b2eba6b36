// Reads a picture of 8x8 grey values from a text file and says which digit it shows.
#include <algorithm>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <string>

#include "lathe/contrast.h"
#include "lathe/digits.h"
#include "lathe/engine.h"

namespace {

constexpr int kPixels = 64;

int Fail(const lathe::Status& status) {
  std::cerr << status.message() << '\n';
  return 1;
}

// Runs a model of one input and one output; `out` has room for `count` numbers.
lathe::Status Run(const lathe::Engine& engine, const float* in, float* out, int64_t count) {
  auto session = engine.CreateSession();
  if (!session.ok()) return session.status();
  auto input = session->Input(0);
  std::copy(in, in + input->size(), input->data<float>());
  const lathe::Status status = session->Run();
  if (!status.ok()) return status;
  auto output = session->Output(0);
  std::copy(output->data<float>(), output->data<float>() + std::min(output->size(), count), out);
  return status;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::cerr << "usage: read_digit MODEL_FOLDER PICTURE\n";
    return 2;
  }
  float picture[kPixels];
  std::ifstream file(argv[2]);
  for (float& pixel : picture) file >> pixel;
  if (!file) {
    std::cerr << argv[2] << " does not hold " << kPixels << " numbers\n";
    return 2;
  }

  auto contrast = lathe::Engine::Create(lathe_api_contrast());  // the model is inside
  if (!contrast.ok()) return Fail(contrast.status());
  float clear[kPixels];
  lathe::Status status = Run(*contrast, picture, clear, kPixels);
  if (!status.ok()) return Fail(status);

  lathe::EngineOptions options;
  options.model_path = std::string(argv[1]) + "/digits.pb";
  options.data_path = std::string(argv[1]) + "/digits.data";
  auto digits = lathe::Engine::Create(lathe_api_digits(), options);
  if (!digits.ok()) return Fail(digits.status());
  float scores[10];
  status = Run(*digits, clear, scores, 10);
  if (!status.ok()) return Fail(status);

  const float* best = std::max_element(scores, scores + 10);
  std::printf("%d\n%.6f\n", static_cast<int>(best - scores), static_cast<double>(*best));
  return 0;
}
