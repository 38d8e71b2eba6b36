// The predictor of a library, and the functions of paddle_api.h.
#ifndef PADDLE_FACE_CREATE_H_
#define PADDLE_FACE_CREATE_H_

#include <sys/stat.h>

#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "paddle/face/config.h"
#include "paddle/face/interface.h"
#include "paddle/face/libraries.h"
#include "paddle/face/model.h"
#include "paddle/face/state.h"

namespace paddle {
namespace lite_api {
namespace face {

inline void WriteFile(const std::string& name, const std::vector<lathe_bytes>& parts) {
  std::FILE* file = std::fopen(name.c_str(), "wb");
  bool written = file != nullptr;
  for (const lathe_bytes& part : parts)
    written = written && (part.size == 0 || std::fwrite(part.data, 1, part.size, file) == part.size);
  if (file != nullptr && std::fclose(file) != 0) written = false;
  if (!written) Fail(name + ": cannot write");
}

// What goes between a model and its weights in one file: fields that fill up to the next 64 bytes, and the head of the
// weights (docs/reference/format.md).
inline std::string HeadOfWeights(size_t model, size_t weights) {
  std::string size;
  for (size_t rest = weights; size.empty() || rest != 0; rest >>= 7)
    size += static_cast<char>((rest & 0x7f) | (rest > 0x7f ? 0x80 : 0));
  const size_t fill = (2 * kAlignment - (model + 3 + 1 + size.size()) % kAlignment) % kAlignment;
  return std::string("\x82\x01") + static_cast<char>(fill) + std::string(fill, '\0') + "\x7a" + size;
}

class Predictor : public PaddlePredictor {
 public:
  explicit Predictor(const std::shared_ptr<Model>& model) : state_(std::make_shared<State>(model)) {}

  std::unique_ptr<Tensor> GetInput(int i) override {
    const size_t count = state_->shown_count();
    if (i < 0 || static_cast<size_t>(i) >= count) NoSuch("input", i, count);
    return Of(state_->shown(static_cast<size_t>(i)));
  }
  std::unique_ptr<const Tensor> GetOutput(int i) const override {
    const size_t count = state_->output_count();
    if (i < 0 || static_cast<size_t>(i) >= count) NoSuch("output", i, count);
    const size_t index = static_cast<size_t>(i);
    return Of(std::make_shared<Output>(state_->OutputInfo(index).name, state_, index));
  }
  void Run() override { state_->Run(); }

  std::shared_ptr<PaddlePredictor> Clone() override { return std::make_shared<Predictor>(state_->model()); }
  std::shared_ptr<PaddlePredictor> Clone(const std::vector<std::string>&) override { return Clone(); }
  std::string GetVersion() const override { return state_->model()->api()->version; }

  std::vector<std::string> GetInputNames() override {
    std::vector<std::string> names;
    for (size_t i = 0; i < state_->shown_count(); ++i) names.push_back(state_->shown(i)->name());
    return names;
  }
  std::vector<std::string> GetOutputNames() override {
    std::vector<std::string> names;
    for (size_t i = 0; i < state_->output_count(); ++i) names.push_back(state_->OutputInfo(i).name);
    return names;
  }
  // Optimisation has merged the parameters of the program into others.
  std::vector<std::string> GetParamNames() override { return {}; }

  std::unique_ptr<Tensor> GetInputByName(const std::string& name) override {
    const size_t index = state_->Find(name);
    return index != kNone ? Of(state_->input(index)) : nullptr;
  }
  std::unique_ptr<const Tensor> GetTensor(const std::string& name) const override {
    const size_t index = state_->Find(name);
    if (index != kNone) return Of(state_->input(index));
    for (size_t i = 0; i < state_->output_count(); ++i) {
      if (state_->OutputInfo(i).name == name) return GetOutput(static_cast<int>(i));
    }
    lathe_tensor_info info = {};
    const void* data = nullptr;
    if (!state_->Value(name, &info, &data)) return nullptr;
    return Of(std::make_shared<InnerValue>(name, state_));
  }
  std::unique_ptr<Tensor> GetMutableTensor(const std::string& name) override { return GetInputByName(name); }

  bool TryShrinkMemory() override {
    state_->Close();
    return true;
  }

  void SaveOptimizedModel(const std::string& name, LiteModelType type, bool) override {
    const Source& source = state_->model()->source();
    if (type == LiteModelType::kProtobuf) {
      mkdir(name.c_str(), 0777);
      WriteFile(name + "/model.pb", {source.model});
      if (source.data.size != 0) WriteFile(name + "/model.data", {source.data});
      return;
    }
    const std::string head = source.data.size != 0 ? HeadOfWeights(source.model.size, source.data.size) : "";
    WriteFile(name + ".nb", {source.model, {head.data(), head.size()}, source.data});
  }

 private:
  [[noreturn]] static void NoSuch(const char* kind, int index, size_t count) {
    Fail(std::string("there is no ") + kind + " " + std::to_string(index) + "; the model has " + std::to_string(count));
  }
  static std::unique_ptr<Tensor> Of(const std::shared_ptr<Variable>& variable) {
    return std::unique_ptr<Tensor>(new Tensor(variable));
  }

  const std::shared_ptr<State> state_;
};

inline bool AnyHasGpuKernels(const Libraries& libraries) {
  for (const lathe_api* api : libraries) {
    if (HasGpuKernels(api)) return true;
  }
  return false;
}

template <typename Config>
std::shared_ptr<PaddlePredictor> Create(const Libraries& libraries, const Config& config) {
  return std::make_shared<Predictor>(std::make_shared<Model>(libraries, config));
}

}  // namespace face

// Programs call it with or without the type of the configuration.
template <typename ConfigT>
static inline std::shared_ptr<PaddlePredictor> CreatePaddlePredictor(const ConfigT& config) {
  return face::Create(face::BoundLibraries(), config);
}

// Whether a library that is known here has kernels for a GPU. Whether there is a driver shows when a predictor is made:
// without one, the CPU computes.
static inline bool IsOpenCLBackendValid(bool /* check_fp16_valid */ = false) {
  return face::AnyHasGpuKernels(face::BoundLibraries());
}
static inline int GetOpenCLDeviceType() { return -1; }

// The version of Lathe that built the library.
static inline std::string GetVersion() {
  return face::BoundLibraries().empty() ? "no library" : face::BoundLibraries().front()->version;
}

}  // namespace lite_api
}  // namespace paddle

#endif  // PADDLE_FACE_CREATE_H_
