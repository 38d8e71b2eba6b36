// One model of a library with an input and outputs of type float.
#ifndef VISION_MODEL_H_
#define VISION_MODEL_H_

#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>

#include "lathe/engine.h"

namespace vision {

inline void Check(const lathe::Status& status) {
  if (status.ok()) return;
  fprintf(stderr, "%s\n", status.message().c_str());
  exit(1);
}

// Ends the program with a message where something fails; an app returns the status instead.
class Model {
 public:
  Model(const lathe_api* api, const std::string& name) : engine_(Loaded(api, name)), session_(Started(engine_)) {}

  float* input() { return Data(session_.Input(0)); }
  void Run() { Check(session_.Run()); }
  const float* output(size_t index = 0) { return Data(session_.Output(index)); }
  const float* output(const std::string& name) { return Data(session_.Output(name)); }
  lathe::Dims output_shape(size_t index = 0) { return session_.Output(index)->shape(); }

 private:
  static lathe::Engine Loaded(const lathe_api* api, const std::string& name) {
    lathe::EngineOptions options;
    options.model_name = name;
    auto engine = lathe::Engine::Create(api, options);
    Check(engine.status());
    return *std::move(engine);
  }
  static lathe::Session Started(const lathe::Engine& engine) {
    auto session = engine.CreateSession();
    Check(session.status());
    return *std::move(session);
  }
  static float* Data(const lathe::Result<lathe::Tensor>& tensor) {
    Check(tensor.status());
    return tensor->data<float>();
  }

  lathe::Engine engine_;
  lathe::Session session_;
};

}  // namespace vision

#endif  // VISION_MODEL_H_
