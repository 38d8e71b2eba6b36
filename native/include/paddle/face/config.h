// How predictors are asked for.
#ifndef PADDLE_FACE_CONFIG_H_
#define PADDLE_FACE_CONFIG_H_

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "paddle/face/places.h"
#include "paddle/face/variable.h"

namespace paddle {
namespace lite_api {

struct LITE_API CustomAllocator {
  void* (*alloc)(size_t size, size_t alignment) = nullptr;
  void (*free)(void* ptr) = nullptr;
};

// Settings of devices that no library runs on are kept and have no effect.
class LITE_API ConfigBase {
 public:
  explicit ConfigBase(PowerMode mode = LITE_POWER_NO_BIND, int threads = 1) : threads_(threads), mode_(mode) {}

  void set_model_dir(const std::string& folder) { model_dir_ = folder; }
  const std::string& model_dir() const { return model_dir_; }

  // More than the cores of the power mode are cut to their number when a predictor is made.
  void set_threads(int threads) { threads_ = threads < 1 ? 1 : threads; }
  int threads() const { return threads_; }
  void set_power_mode(PowerMode mode) { mode_ = mode; }
  PowerMode power_mode() const { return mode_; }

  // A folder that is there: GPU programs that were built are kept in it. The name is Lathe's own.
  void set_opencl_binary_path_name(const std::string& path, const std::string& /* name */) { opencl_path_ = path; }
  const std::string& opencl_binary_path() const { return opencl_path_; }
  // How long a predictor may tune GPU kernels when it is made, and a file that `lathe tune` wrote, where it is there.
  void set_opencl_tune(CLTuneMode mode = CL_TUNE_NONE, const std::string& path = "", const std::string& name = "",
                       size_t /* lws_repeats */ = 4) {
    static const uint32_t milliseconds[] = {0, 200, 1000, 10000};
    opencl_tuning_ = mode >= CL_TUNE_NONE && mode <= CL_TUNE_EXHAUSTIVE ? milliseconds[mode] : 0;
    opencl_tuned_ = name.empty() ? "" : path + "/" + name;
  }
  uint32_t opencl_tuning() const { return opencl_tuning_; }
  const std::string& opencl_tuned_file() const { return opencl_tuned_; }
  void set_opencl_precision(CLPrecisionType = CL_PRECISION_AUTO) {}  // decided when the library is built

  void set_x86_math_num_threads(int threads) { set_threads(threads); }
  int x86_math_num_threads() const { return threads(); }
  void set_x86_math_library_num_threads(int threads) { set_threads(threads); }
  int x86_math_library_num_threads() const { return threads(); }

  void set_device_id(int device) { device_id_ = device; }
  int get_device_id() const { return device_id_; }
  void set_custom_allocator(TargetType, CustomAllocator) {}
  void add_discarded_pass(const std::string&) {}

  void set_subgraph_model_cache_dir(const std::string&) {}
  void set_subgraph_model_cache_buffers(const std::string&, const std::vector<char>&, const std::vector<char>&) {}
  bool check_nnadapter_device_name(const std::string&) { return false; }
  void set_nnadapter_device_names(const std::vector<std::string>&) {}
  void set_nnadapter_context_properties(const std::string&) {}
  void set_nnadapter_context_callback(int (*)(int, void*)) {}
  void set_nnadapter_model_cache_dir(const std::string&) {}
  void set_nnadapter_model_cache_buffers(const std::string&, const std::vector<char>&) {}
  void set_nnadapter_dynamic_shape_info(const std::map<std::string, std::vector<std::vector<int64_t>>>&) {}

  void set_metal_lib_path(const std::string&) {}
  void set_metal_use_mps(bool) {}
  void set_metal_use_aggressive(bool) {}
  void set_metal_use_memory_reuse(bool) {}
  void set_metal_device(void*) {}

 private:
  std::string model_dir_;
  int threads_;
  PowerMode mode_;
  std::string opencl_path_;
  uint32_t opencl_tuning_ = 0;
  std::string opencl_tuned_;
  int device_id_ = 0;
};

// The usual configuration. The model is a file of Lathe with its `.data` beside it, or the name of a model that the
// library holds.
class LITE_API MobileConfig : public ConfigBase {
 public:
  void set_model_from_file(const std::string& file) {
    file_ = file;
    model_ = params_ = std::string();
    from_memory_ = false;
  }
  const std::string& lite_model_file() const { return file_; }

  // A model in one file (`<model>.whole.pb`); it is copied.
  void set_model_from_buffer(const std::string& buffer) { SetBuffers(buffer, std::string()); }
  void set_model_from_buffer(std::string&& buffer) { SetBuffers(std::move(buffer), std::string()); }
  void set_model_from_buffer(const char* buffer, size_t length) { SetBuffers(std::string(buffer, length), ""); }
  // The contents of `.pb` and `.data`; they are copied.
  void set_model_buffer(const char* model_buffer, size_t model_buffer_size, const char* param_buffer,
                        size_t param_buffer_size) {
    SetBuffers(std::string(model_buffer, model_buffer_size), std::string(param_buffer, param_buffer_size));
  }
  const std::string& model_buffer() const { return model_; }
  const std::string& param_buffer() const { return params_; }
  const char* lite_model_buffer_ptr() const { return model_.data(); }
  size_t lite_model_buffer_size() const { return model_.size(); }
  bool is_model_from_memory() const { return from_memory_; }
  bool model_from_memory() const { return from_memory_; }

  void set_precision_mode(PrecisionMode mode) { precision_mode_ = mode; }  // decided when the library is built
  PrecisionMode precision_mode() const { return precision_mode_; }
  void SetArmL3CacheSize(L3CacheSetMethod = L3CacheSetMethod::kDeviceL3Cache, int = -1) {}
  bool check_fp16_valid() { return false; }

 private:
  void SetBuffers(std::string model, std::string params) {
    model_ = std::move(model);
    params_ = std::move(params);
    file_ = std::string();
    from_memory_ = true;
  }
  std::string file_;
  std::string model_;
  std::string params_;
  bool from_memory_ = false;
  PrecisionMode precision_mode_ = LITE_PRECISION_NORMAL;
};

class LITE_API CxxModelBuffer {
 public:
  CxxModelBuffer() = default;
  CxxModelBuffer(const char* program_buffer, size_t program_buffer_size, const char* params_buffer,
                 size_t params_buffer_size)
      : program_(program_buffer, program_buffer_size), params_(params_buffer, params_buffer_size) {}
  CxxModelBuffer(std::string&& program_buffer, std::string&& params_buffer)
      : program_(std::move(program_buffer)), params_(std::move(params_buffer)) {}
  CxxModelBuffer(const CxxModelBuffer&) = delete;

  const std::string& get_program() const { return program_; }
  const std::string& get_params() const { return params_; }
  bool is_empty() const { return program_.empty(); }

 private:
  std::string program_;
  std::string params_;
};

// The configuration of programs that optimise on the device. Here all is decided when the library is built: it names
// models as a MobileConfig does, a folder with one model, or a model and its weights.
class LITE_API CxxConfig : public ConfigBase {
 public:
  void set_valid_places(const std::vector<Place>& places) { places_ = places; }
  const std::vector<Place>& valid_places() const { return places_; }
  void set_model_file(const std::string& path) { model_file_ = path; }
  std::string model_file() const { return model_file_; }
  void set_param_file(const std::string& path) { param_file_ = path; }
  std::string param_file() const { return param_file_; }

  void set_model_buffer(const char* model_buffer, size_t model_buffer_size, const char* param_buffer,
                        size_t param_buffer_size) {
    buffer_ = std::make_shared<CxxModelBuffer>(model_buffer, model_buffer_size, param_buffer, param_buffer_size);
  }
  void set_model_buffer(std::shared_ptr<CxxModelBuffer> model_buffer) { buffer_ = model_buffer; }
  const CxxModelBuffer& get_model_buffer() const { return *buffer_; }
  bool is_model_from_memory() const { return buffer_ != nullptr; }
  bool model_from_memory() const { return buffer_ != nullptr; }

  void set_passes_internal(const std::vector<std::string>& passes = {}) { passes_ = passes; }
  const std::vector<std::string>& get_passes_internal() const { return passes_; }
  template <typename T>
  void set_preferred_inputs_for_warmup(int, int, const shape_t&, const lod_t& = {}, const T = 0,
                                       const void* = nullptr) {}
  void set_quant_model(bool quant_model) { quant_model_ = quant_model; }
  bool quant_model() const { return quant_model_; }
  void set_quant_type(QuantType quant_type) { quant_type_ = quant_type; }
  QuantType quant_type() const { return quant_type_; }
  void set_sparse_model(bool) {}
  void set_sparse_threshold(float) {}
  void set_nnadapter_subgraph_partition_config_path(const std::string&) {}
  void set_nnadapter_subgraph_partition_config_buffer(const std::string&) {}
  void set_nnadapter_mixed_precision_quantization_config_path(const std::string&) {}
  void set_nnadapter_mixed_precision_quantization_config_buffer(const std::string&) {}

 private:
  std::vector<Place> places_;
  std::string model_file_;
  std::string param_file_;
  std::shared_ptr<CxxModelBuffer> buffer_;
  std::vector<std::string> passes_;
  bool quant_model_ = false;
  QuantType quant_type_ = QuantType::QUANT_INT16;
};

}  // namespace lite_api
}  // namespace paddle

#endif  // PADDLE_FACE_CONFIG_H_
