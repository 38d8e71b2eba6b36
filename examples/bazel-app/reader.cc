#include "reader.h"

#include <algorithm>

#include "lathe/reader.h"

int Reader::Read(const Picture& picture) {
  std::array<float, 10> scores;
  if (!Run("digits", picture, scores.data(), static_cast<int>(scores.size()))) return -1;
  return static_cast<int>(std::max_element(scores.begin(), scores.end()) - scores.begin());
}

const Picture* Reader::Brighten(const Picture& picture) {
  const bool done = Run("brighten", picture, bright_.data(), static_cast<int>(bright_.size()));
  return done ? &bright_ : nullptr;
}

bool Reader::Run(const char* model, const Picture& picture, float* out, int count) {
  lathe::EngineOptions options;
  options.model_name = model;
  auto engine = lathe::Engine::Create(lathe_api_reader(), options);
  if (!engine.ok()) {
    problem_ = engine.status().message();
    return false;
  }
  auto session = engine->CreateSession();
  if (!session.ok()) {
    problem_ = session.status().message();
    return false;
  }
  std::copy(picture.begin(), picture.end(), session->Input(0)->data<float>());
  const lathe::Status status = session->Run();
  if (!status.ok()) {
    problem_ = status.message();
    return false;
  }
  const float* result = session->Output(0)->data<float>();
  std::copy(result, result + count, out);
  return true;
}
