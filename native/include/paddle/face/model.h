// Finds the model that a configuration names, and makes an engine of it.
#ifndef PADDLE_FACE_MODEL_H_
#define PADDLE_FACE_MODEL_H_

#include <dirent.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "lathe/c_api.h"
#include "paddle/face/config.h"
#include "paddle/face/failure.h"
#include "paddle/face/files.h"
#include "paddle/face/libraries.h"

namespace paddle {
namespace lite_api {
namespace face {

// A model in memory that stays as long as this. `only`: the library that holds it.
struct Source {
  std::string name;  // as the program says it
  lathe_bytes model = {nullptr, 0};
  lathe_bytes data = {nullptr, 0};
  const lathe_api* only = nullptr;
  std::vector<std::shared_ptr<const void>> owners;
};

inline lathe_bytes Map(const std::string& file, Source* source) {
  const auto mapped = std::make_shared<MappedFile>(file);
  source->owners.push_back(mapped);
  return mapped->bytes();
}

inline lathe_bytes Keep(const std::string& text, Source* source) {
  const auto copy = std::make_shared<const std::string>(text);
  source->owners.push_back(copy);
  return text.empty() ? lathe_bytes{nullptr, 0} : lathe_bytes{copy->data(), copy->size()};
}

inline Source FromFile(const std::string& model, const std::string& weights) {
  Source source;
  source.name = model;
  source.model = Map(model, &source);
  CheckOrigin(model, source.model);
  const std::string data = weights.empty() ? Beside(model, ".data") : weights;
  if (data != model && (!weights.empty() || IsFile(data))) source.data = Map(data, &source);
  return source;
}

inline Source FromMemory(const std::string& model, const std::string& weights) {
  Source source;
  source.name = "the model in memory";
  source.model = Keep(model, &source);
  if (source.model.data == nullptr) Fail("the model in memory is empty");
  CheckOrigin(source.name, source.model);
  source.data = Keep(weights, &source);
  return source;
}

// False where no library holds a model of this name. Several that do are a mistake.
inline bool FromLibrary(const Libraries& libraries, const std::string& name, Source* source) {
  for (const lathe_api* api : libraries) {
    for (size_t i = 0; i < api->model_count(); ++i) {
      const lathe_embedded_model* model = api->model_at(i);
      if (name != model->name) continue;
      if (source->only != nullptr) Fail("several libraries hold a model '" + name + "'");
      source->name = name;
      source->model = model->model;
      source->data = model->data;
      source->only = api;
    }
  }
  return source->only != nullptr;
}

inline std::string NamesIn(const Libraries& libraries) {
  std::string names;
  for (const lathe_api* api : libraries) {
    for (size_t i = 0; i < api->model_count(); ++i)
      names += std::string(names.empty() ? "" : ", ") + api->model_at(i)->name;
  }
  return names;
}

// A file, or a model inside of a library.
inline Source Named(const Libraries& libraries, const std::string& name, const std::string& weights) {
  if (IsFile(name)) return FromFile(name, weights);
  Source source;
  if (FromLibrary(libraries, name, &source)) return source;
  const std::string names = NamesIn(libraries);
  Fail("there is no model file '" + name + "', and no library that is known here holds a model of this name; " +
       (names.empty() ? "they hold none: model_graph_format: code puts models into a library" : "there is: " + names));
}

// The one model of a folder, such as model/<abi> of a build.
inline Source FromFolder(const std::string& folder) {
  std::vector<std::string> found;
  bool foreign = false;
  if (DIR* entries = opendir(folder.c_str())) {
    while (const dirent* entry = readdir(entries)) {
      const std::string name = entry->d_name;
      foreign = foreign || name == "__model__" || name == "__model__.nb" || name == "model.pdmodel";
      if (name.size() > 3 && name.compare(name.size() - 3, 3, ".pb") == 0 && name.find(".whole.") == std::string::npos)
        found.push_back(folder + "/" + name);
    }
    closedir(entries);
  }
  if (found.size() == 1) return FromFile(found[0], "");
  if (found.size() > 1) Fail(folder + ": there are several models; name one with set_model_from_file");
  if (foreign) {
    for (const char* name : {"/__model__.nb", "/__model__", "/model.pdmodel"}) {
      Source source;
      if (IsFile(folder + name)) CheckOrigin(folder + name, Map(folder + name, &source));
    }
  }
  Fail(folder + ": there is no model of Lathe (<model>.pb with <model>.data beside it)");
}

inline Source SourceOf(const Libraries& libraries, const MobileConfig& config) {
  if (config.is_model_from_memory()) return FromMemory(config.model_buffer(), config.param_buffer());
  if (!config.lite_model_file().empty()) return Named(libraries, config.lite_model_file(), "");
  if (IsFolder(config.model_dir())) return FromFolder(config.model_dir());
  if (!config.model_dir().empty()) return Named(libraries, config.model_dir(), "");
  Fail("the configuration names no model: set_model_from_file");
}

inline Source SourceOf(const Libraries& libraries, const CxxConfig& config) {
  if (config.is_model_from_memory())
    return FromMemory(config.get_model_buffer().get_program(), config.get_model_buffer().get_params());
  const std::string& folder = config.model_dir();
  const auto in_folder = [&](const std::string& name) {
    return !folder.empty() && !name.empty() && IsFile(folder + "/" + name) ? folder + "/" + name : name;
  };
  if (!config.model_file().empty())
    return Named(libraries, in_folder(config.model_file()), in_folder(config.param_file()));
  if (IsFolder(folder)) return FromFolder(folder);
  if (!folder.empty()) return Named(libraries, folder, "");
  Fail("the configuration names no model: set_model_dir, or set_model_file and set_param_file");
}

// Whether a configuration has places, and none of them is a GPU.
inline bool IsForCpu(const MobileConfig&) { return false; }
inline bool IsForCpu(const CxxConfig& config) {
  bool gpu = config.valid_places().empty();
  for (const Place& place : config.valid_places()) gpu = gpu || place.target == TargetType::kOpenCL;
  return !gpu;
}

inline uint32_t PowerOf(PowerMode mode) {
  static const uint32_t modes[] = {LATHE_POWER_HIGH,    LATHE_POWER_LOW,       LATHE_POWER_FULL,
                                   LATHE_POWER_NO_BIND, LATHE_POWER_RAND_HIGH, LATHE_POWER_RAND_LOW};
  if (mode < LITE_POWER_HIGH || mode > LITE_POWER_RAND_LOW)
    Fail("there is no PowerMode " + std::to_string(static_cast<int>(mode)));
  return modes[mode];
}

// A model that is ready to run, shared by predictors.
class Model {
 public:
  template <typename Config>
  Model(const Libraries& libraries, const Config& config) : source_(SourceOf(libraries, config)) {
    lathe_cpu_options cpu = {};
    cpu.struct_size = sizeof(cpu);
    cpu.power = PowerOf(config.power_mode());
    lathe_device_options device = {};
    device.struct_size = sizeof(device);
    device.kind = IsForCpu(config) ? LATHE_DEVICE_CPU : LATHE_DEVICE_ANY;
    if (IsFolder(config.opencl_binary_path())) device.storage_path = config.opencl_binary_path().c_str();
    if (IsFile(config.opencl_tuned_file())) device.tuning_path = config.opencl_tuned_file().c_str();
    device.tuning_milliseconds = config.opencl_tuning();
    lathe_engine_options options = {};
    options.struct_size = sizeof(options);
    options.num_threads = config.threads();
    options.model = source_.model;
    options.data = source_.data;
    options.device = &device;
    options.cpu = &cpu;
    Create(source_.only != nullptr ? Libraries(1, source_.only) : libraries, options);
  }
  Model(const Model&) = delete;
  Model& operator=(const Model&) = delete;
  ~Model() { api_->engine_destroy(engine_); }

  const lathe_api* api() const { return api_; }
  lathe_engine* engine() const { return engine_; }
  const Source& source() const { return source_; }

 private:
  // The first library that has all kernels.
  void Create(const Libraries& libraries, const lathe_engine_options& options) {
    if (libraries.empty()) Fail("no library is known here: include paddle_api.h of the include folder of a build");
    std::string reasons;
    for (const lathe_api* api : libraries) {
      lathe_error error = {};
      const bool known = api->abi_version == LATHE_ABI_VERSION;
      const lathe_code code = known ? api->engine_create(&options, &engine_, &error) : lathe_code{LATHE_UNSUPPORTED};
      api_ = api;
      if (code == LATHE_OK) return;
      reasons += reasons.empty() ? "" : "; ";
      reasons += known ? error.message : std::string(api->library) + " has another version of the binary interface";
      if (code != LATHE_UNSUPPORTED) break;
    }
    Fail(source_.name + ": " + reasons);
  }

  const Source source_;
  const lathe_api* api_ = nullptr;
  lathe_engine* engine_ = nullptr;
};

}  // namespace face
}  // namespace lite_api
}  // namespace paddle

#endif  // PADDLE_FACE_MODEL_H_
