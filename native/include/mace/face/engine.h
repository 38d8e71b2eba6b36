// An engine and a session of a library behind the face of MACE's engine: tensors by name, in the caller's order and
// type.
#ifndef MACE_FACE_ENGINE_H_
#define MACE_FACE_ENGINE_H_

#include <algorithm>
#include <chrono>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "lathe/c_api.h"
#include "lathe/elements.h"
#include "mace/face/cores.h"
#include "mace/face/files.h"
#include "mace/face/gpu.h"
#include "mace/face/interface.h"
#include "mace/face/libraries.h"
#include "mace/face/log.h"
#include "mace/face/nodes.h"

namespace mace {
namespace face {

using namespace lathe::elements;

using Names = std::vector<std::string>;
using Tensors = std::map<std::string, MaceTensor>;

inline MaceStatus StatusOf(lathe_code code, const std::string& message) {
  switch (code) {
    case LATHE_OK:
      return MaceStatus();
    case LATHE_INVALID_ARGUMENT:
    case LATHE_BAD_MODEL:
      return MaceStatus(MaceStatus::MACE_INVALID_ARGS, message);
    case LATHE_OUT_OF_MEMORY:
      return MaceStatus(MaceStatus::MACE_OUT_OF_RESOURCES, message);
    case LATHE_UNSUPPORTED:
      return MaceStatus(MaceStatus::MACE_UNSUPPORTED, message);
    default:
      return MaceStatus(MaceStatus::MACE_RUNTIME_ERROR, message);
  }
}

inline MaceStatus Refuse(const std::string& message) { return MaceStatus(MaceStatus::MACE_INVALID_ARGS, message); }

inline bool Failed(const MaceStatus& status) { return status != MaceStatus::MACE_SUCCESS; }

template <typename List>
std::string Listed(const List& items, const char* between) {
  std::string text;
  for (const auto& item : items) text += (text.empty() ? "" : between) + std::string(item);
  return text;
}

inline std::string Text(const std::vector<int64_t>& shape) {
  std::string text;
  for (const int64_t size : shape) text += (text.empty() ? "" : ",") + std::to_string(size);
  return text;
}

// Axis i of the one is axis [i] of the other; null where both have the same order.
inline const int* OrderOf(const std::string& from, const std::string& to, size_t rank) {
  static const int to_nchw[4] = {0, 3, 1, 2};
  static const int to_nhwc[4] = {0, 2, 3, 1};
  if (rank == 4 && from == "NHWC" && to == "NCHW") return to_nchw;
  if (rank == 4 && from == "NCHW" && to == "NHWC") return to_nhwc;
  return nullptr;
}

inline const char* WordOf(DataFormat format) {
  return format == DataFormat::NHWC ? "NHWC" : format == DataFormat::NCHW ? "NCHW" : "NONE";
}

class Engine {
 public:
  Engine(DeviceType device, int threads, CPUAffinityPolicy policy, const DeviceWishes& wishes)
      : device_(device), threads_(threads), policy_(policy), wishes_(wishes) {}
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;
  ~Engine() { Close(); }

  MaceStatus Init(const NetDef& net, const Names& inputs, const Names& outputs, lathe_bytes data) {
    Close();
    if (device_ != CPU && device_ != GPU && device_ != HEXAGON)
      return MaceStatus(
          MaceStatus::MACE_UNSUPPORTED,
          "libraries run on the CPU, on GPUs and on Hexagon DSPs: ask for DeviceType::CPU, GPU or HEXAGON");
    if (net.libraries().empty())
      return MaceStatus(MaceStatus::MACE_UNSUPPORTED,
                        "no library is known here: include mace/public/mace.h of the folder of a build");
    if (net.model().data == nullptr || net.model().size == 0) return Refuse("the model graph is empty");
    net_.reset(new NetDef(net));
    MaceStatus status = Create(data);
    if (!Failed(status)) status = Open();
    if (!Failed(status)) status = CheckNames(inputs, inputs_, "input");
    if (!Failed(status)) status = CheckNames(outputs, outputs_, "output");
    if (Failed(status)) Close();
    if (!Failed(status)) TellOfDevice();
    Verbose(1, Failed(status) ? "no engine: " + status.information()
                              : "engine of library " + std::string(api_->library) + ": " + Listed(inputs_, ", ") +
                                    " -> " + Listed(outputs_, ", "));
    return status;
  }

  MaceStatus Init(const NetDef& net, const Names& inputs, const Names& outputs, const std::string& file) {
    Close();
    if (file.empty()) return Init(net, inputs, outputs, net.data());
    std::unique_ptr<MappedFile> mapped;
    MaceStatus status = MappedFile::Open(file.c_str(), &mapped);
    if (!Failed(status)) status = Init(net, inputs, outputs, lathe_bytes{mapped->data(), mapped->size()});
    if (!Failed(status)) data_file_ = std::move(mapped);
    return status;
  }

  MaceStatus Run(const Tensors& inputs, Tensors* outputs, RunMetadata* metadata) {
    if (engine_ == nullptr) return Refuse("the engine holds no model: its Init has not succeeded");
    if (outputs == nullptr) return Refuse("'outputs' is null");
    MaceStatus status = Open();
    if (!Failed(status)) status = CheckTensors(inputs, inputs_, "input");
    if (!Failed(status)) status = CheckTensors(*outputs, outputs_, "output");
    if (!Failed(status)) status = Reshape(inputs);
    if (!Failed(status)) status = Feed(inputs);
    if (!Failed(status)) status = Execute(metadata);
    for (auto output = outputs->begin(); !Failed(status) && output != outputs->end(); ++output)
      status = Take(output->first, &output->second);
    return status;
  }

  MaceStatus Release() {
    if (session_ != nullptr) api_->session_destroy(session_);
    session_ = nullptr;
    return MaceStatus();
  }

 private:
  void Close() {
    Release();
    if (engine_ != nullptr) api_->engine_destroy(engine_);
    engine_ = nullptr;
    data_file_.reset();
  }

  // The first library that has all kernels.
  MaceStatus Create(lathe_bytes data) {
    const std::vector<size_t> cores = CoresOf(policy_, threads_, Frequencies());
    const int most = cores.empty() ? CoreCount() : static_cast<int>(cores.size());
    const OnCores on_cores(cores);
    lathe_engine_options options = {};
    options.struct_size = sizeof(options);
    options.num_threads = threads_ > 0 ? std::min(threads_, most) : cores.empty() ? 0 : most;
    options.model = net_->model();
    options.data = data;
    std::vector<const char*> paths;
    const lathe_device_options device = DeviceOptionsOf(device_, wishes_, &paths);
    options.device = &device;
    MaceStatus status;
    Names reasons;
    for (const lathe_api* api : net_->libraries()) {
      lathe_error error = {};
      const bool known = api->abi_version == LATHE_ABI_VERSION;
      const lathe_code code = known ? api->engine_create(&options, &engine_, &error) : lathe_code{LATHE_UNSUPPORTED};
      api_ = api;
      if (code == LATHE_OK) return MaceStatus();
      reasons.push_back(known ? std::string(error.message)
                              : std::string(api->library) + " has another version of the binary interface");
      status = StatusOf(code, Listed(reasons, "; "));
      if (code != LATHE_UNSUPPORTED) break;
    }
    return status;
  }

  // That an application asked for a device and got none is no mistake, and still worth a line.
  void TellOfDevice() const {
    if (device_ == CPU) return;
    const std::string why = WhyNotOn(device_, api_, engine_), word = device_ == HEXAGON ? "HEXAGON" : "GPU";
    if (!why.empty()) Warn("DeviceType::" + word + ", and the CPU computes: " + why);
  }

  MaceStatus Open() {
    if (session_ != nullptr) return MaceStatus();
    lathe_session_options options = {};
    options.struct_size = sizeof(options);
    lathe_error error = {};
    const lathe_code code = api_->session_create(engine_, &options, &session_, &error);
    if (code != LATHE_OK) return StatusOf(code, error.message);
    fed_.assign(api_->input_count(engine_), false);
    inputs_.clear();
    for (size_t i = 0; i < api_->input_count(engine_); ++i) inputs_.push_back(InputInfo(i).name);
    outputs_.clear();
    for (size_t i = 0; i < api_->output_count(engine_); ++i) outputs_.push_back(OutputInfo(i).name);
    return MaceStatus();
  }

  lathe_tensor_info InputInfo(size_t index) const {
    lathe_tensor_info info = {};
    info.struct_size = sizeof(info);
    api_->input_info(session_, index, &info, nullptr);
    return info;
  }
  lathe_tensor_info OutputInfo(size_t index) const {
    lathe_tensor_info info = {};
    info.struct_size = sizeof(info);
    api_->output_info(session_, index, &info, nullptr);
    return info;
  }

  static MaceStatus CheckName(const std::string& name, const Names& known, const char* kind) {
    if (std::find(known.begin(), known.end(), name) != known.end()) return MaceStatus();
    return Refuse("the model has no " + std::string(kind) + " '" + name + "'; it has: " + Listed(known, ", "));
  }

  static MaceStatus CheckNames(const Names& names, const Names& known, const char* kind) {
    for (const std::string& name : names) {
      const MaceStatus status = CheckName(name, known, kind);
      if (Failed(status)) return status;
    }
    return MaceStatus();
  }

  static MaceStatus CheckTensors(const Tensors& tensors, const Names& known, const char* kind) {
    for (const auto& tensor : tensors) {
      const MaceStatus status = CheckName(tensor.first, known, kind);
      if (Failed(status)) return status;
      if (tensor.second.data_ == nullptr) return Refuse(std::string(kind) + " '" + tensor.first + "' has no buffer");
      if (tensor.second.typed_ && (tensor.second.data_type_ <= IDT_INVALID || tensor.second.data_type_ >= IDT_END))
        return Refuse(std::string(kind) + " '" + tensor.first + "' has no valid data type");
    }
    return MaceStatus();
  }

  // What the buffer of a tensor holds, where the model's tensor holds `models`.
  static lathe_dtype ElementOf(const MaceTensor& tensor, lathe_dtype models) {
    static const lathe_dtype named[] = {0,         LATHE_F32,  LATHE_U8,  LATHE_F16, LATHE_S32,
                                        LATHE_F16, LATHE_BF16, LATHE_S16, LATHE_S8};
    if (tensor.typed_) return named[tensor.data_type_];
    switch (models) {
      case LATHE_F16:
      case LATHE_BF16:
      case LATHE_F64:
        return LATHE_F32;
      case LATHE_U32:
      case LATHE_S64:
      case LATHE_U64:
        return LATHE_S32;
      default:
        return models;
    }
  }

  // Gives the session the shapes of the inputs, where they are not those that it has.
  MaceStatus Reshape(const Tensors& inputs) {
    std::vector<lathe_shape> shapes(inputs_.size());
    bool changed = false;
    Names given;
    for (size_t i = 0; i < inputs_.size(); ++i) {
      const lathe_tensor_info info = InputInfo(i);
      std::vector<int64_t> dims(info.dims, info.dims + info.rank);
      const auto found = inputs.find(inputs_[i]);
      if (found != inputs.end()) {
        const std::vector<int64_t>& shape = found->second.shape_;
        const std::string format = WordOf(found->second.format_);
        const int* order = OrderOf(format, info.format, shape.size());
        std::vector<int64_t> wanted = shape;
        for (size_t axis = 0; order != nullptr && axis < 4; ++axis)
          wanted[axis] = shape[static_cast<size_t>(order[axis])];
        if (wanted != dims)
          given.push_back("'" + inputs_[i] + "' is " + format + " " + Text(shape) + " here, and in the model " +
                          info.format + " " + Text(dims));
        changed = changed || wanted != dims;
        dims = wanted;
      }
      if (dims.size() > LATHE_MAX_RANK) return Refuse("input '" + inputs_[i] + "' has too many dimensions");
      shapes[i].rank = static_cast<uint32_t>(dims.size());
      std::copy(dims.begin(), dims.end(), shapes[i].dims);
    }
    if (!changed) return MaceStatus();
    lathe_error error = {};
    const lathe_code code = api_->resize(session_, shapes.size(), shapes.data(), &error);
    if (code != LATHE_OK) return StatusOf(code, std::string(error.message) + " (" + Listed(given, "; ") + ")");
    fed_.assign(fed_.size(), false);
    Verbose(1, "new shapes: " + Listed(given, "; "));
    return MaceStatus();
  }

  MaceStatus Feed(const Tensors& inputs) {
    for (size_t i = 0; i < inputs_.size(); ++i) {
      const auto found = inputs.find(inputs_[i]);
      if (found == inputs.end()) {
        if (!fed_[i]) return Refuse("input '" + inputs_[i] + "' is missing");
        continue;
      }
      const MaceTensor& tensor = found->second;
      const lathe_tensor_info info = InputInfo(i);
      lathe_error error = {};
      void* target = nullptr;
      const lathe_code code = api_->input_data(session_, i, &target, nullptr, &error);
      if (code != LATHE_OK) return StatusOf(code, error.message);
      const int* order = OrderOf(WordOf(tensor.format_), info.format, tensor.shape_.size());
      const Walk walk = order != nullptr ? Turned(tensor.shape_.data(), order) : Straight(tensor.room_);
      Move(tensor.data_.get(), ElementOf(tensor, info.dtype), target, info.dtype, walk, order == nullptr);
      fed_[i] = true;
    }
    return MaceStatus();
  }

  static void Observe(void* events, const lathe_node_event* event) {
    static_cast<std::vector<lathe_node_event>*>(events)->push_back(*event);
  }

  MaceStatus Execute(RunMetadata* metadata) {
    std::vector<lathe_node_event> events;
    const bool observed = metadata != nullptr || IsVerbose(2);
    if (observed) api_->set_observer(session_, Observe, &events);
    lathe_error error = {};
    const auto start = std::chrono::steady_clock::now();
    const lathe_code code = api_->run(session_, &error);
    const auto time = std::chrono::steady_clock::now() - start;
    if (observed) api_->set_observer(session_, nullptr, nullptr);
    if (code != LATHE_OK) return StatusOf(code, error.message);
    const Nodes nodes(api_, engine_, session_);
    for (const lathe_node_event& event : events) {
      Verbose(2, std::string(event.op) + " '" + event.name + "' in " + event.kernel + ": " +
                     std::to_string((event.end_ns - event.start_ns) / 1000) + " us");
      if (metadata == nullptr) continue;
      metadata->op_stats.emplace_back();
      nodes.Describe(event, &metadata->op_stats.back());
    }
    const auto micros = std::chrono::duration_cast<std::chrono::microseconds>(time).count();
    Verbose(1, "run: " + std::to_string(micros) + " us");
    return MaceStatus();
  }

  MaceStatus Take(const std::string& name, MaceTensor* tensor) const {
    const size_t index = static_cast<size_t>(std::find(outputs_.begin(), outputs_.end(), name) - outputs_.begin());
    lathe_error error = {};
    const void* data = nullptr;
    const lathe_code code = api_->output_data(session_, index, &data, nullptr, &error);
    if (code != LATHE_OK) return StatusOf(code, error.message);
    const lathe_tensor_info info = OutputInfo(index);  // after the run: the data may decide about it
    const std::vector<int64_t> dims(info.dims, info.dims + info.rank);
    const int* order = OrderOf(info.format, WordOf(tensor->format_), info.rank);
    std::vector<int64_t> shape = dims;
    for (size_t axis = 0; order != nullptr && axis < 4; ++axis) shape[axis] = dims[static_cast<size_t>(order[axis])];
    int64_t count = 1;
    for (const int64_t size : shape) count *= size;
    if (count > tensor->room_)
      return Refuse("output '" + name + "' is " + Text(shape) + ", and its buffer has room for " +
                    std::to_string(tensor->room_) + " elements");
    const Walk walk = order != nullptr ? Turned(dims.data(), order) : Straight(count);
    Move(data, info.dtype, tensor->data_.get(), ElementOf(*tensor, info.dtype), walk, order == nullptr);
    tensor->shape_ = shape;
    return MaceStatus();
  }

  const DeviceType device_;
  const int threads_;
  const CPUAffinityPolicy policy_;
  const DeviceWishes wishes_;
  std::unique_ptr<NetDef> net_;
  std::unique_ptr<MappedFile> data_file_;
  const lathe_api* api_ = nullptr;
  lathe_engine* engine_ = nullptr;
  lathe_session* session_ = nullptr;
  Names inputs_;
  Names outputs_;
  std::vector<bool> fed_;  // by input: whether the session holds contents of it
};

}  // namespace face
}  // namespace mace

#endif  // MACE_FACE_ENGINE_H_
