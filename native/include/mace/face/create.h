// The functions of mace/public/mace.h.
#ifndef MACE_FACE_CREATE_H_
#define MACE_FACE_CREATE_H_

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "mace/face/engine.h"
#include "mace/face/foreign.h"
#include "mace/face/interface.h"
#include "mace/face/libraries.h"

namespace mace {

namespace face {

inline const char* TextOf(MaceStatus::Code code) {
  static const char* const words[] = {"Success", "Invalid Arguments", "Out of resources", "Unsupported",
                                      "Runtime error"};
  return words[code];
}

}  // namespace face

inline std::string MaceStatus::information() const {
  return face::TextOf(code_) + (information_.empty() ? information_ : ": " + information_);
}

inline GPUContextBuilder::GPUContextBuilder() : made_(new GPUContext) {}

inline GPUContextBuilder& GPUContextBuilder::SetStoragePath(const std::string& path) {
  made_->storage_path = path;
  return *this;
}
inline GPUContextBuilder& GPUContextBuilder::SetOpenCLBinaryPaths(const std::vector<std::string>& paths) {
  made_->binary_paths = paths;
  return *this;
}
inline GPUContextBuilder& GPUContextBuilder::SetOpenCLBinary(const unsigned char* data, const size_t size) {
  made_->binary = lathe_bytes{data, size};
  return *this;
}
inline GPUContextBuilder& GPUContextBuilder::SetOpenCLParameterPath(const std::string& path) {
  made_->parameter_path = path;
  return *this;
}
inline GPUContextBuilder& GPUContextBuilder::SetOpenCLParameter(const unsigned char* data, const size_t size) {
  made_->parameter = lathe_bytes{data, size};
  return *this;
}
inline std::shared_ptr<GPUContext> GPUContextBuilder::Finalize() { return std::make_shared<GPUContext>(*made_); }

inline MaceStatus MaceEngineConfig::SetGPUContext(std::shared_ptr<GPUContext> context) {
  gpu_context_ = context;
  return MaceStatus();
}
inline MaceStatus MaceEngineConfig::SetGPUHints(GPUPerfHint perf_hint, GPUPriorityHint priority_hint) {
  if (perf_hint < PERF_DEFAULT || perf_hint > PERF_HIGH || priority_hint < PRIORITY_DEFAULT ||
      priority_hint > PRIORITY_HIGH)
    return face::Refuse("a hint for the GPU is from 0 to 3");
  perf_hint_ = perf_hint;
  priority_hint_ = priority_hint;
  return MaceStatus();
}
inline MaceStatus MaceEngineConfig::SetCPUThreadPolicy(int num_threads_hint, CPUAffinityPolicy policy) {
  constexpr int kMostThreads = 256;
  if (num_threads_hint < -1 || num_threads_hint > kMostThreads)
    return face::Refuse("the number of threads is not between -1 (one per core) and 256: " +
                        std::to_string(num_threads_hint));
  if (static_cast<int>(policy) < AFFINITY_NONE || static_cast<int>(policy) > AFFINITY_POWER_SAVE)
    return face::Refuse("there is no such CPUAffinityPolicy: " + std::to_string(static_cast<int>(policy)));
  num_threads_ = num_threads_hint;
  policy_ = policy;
  return MaceStatus();
}
inline MaceStatus MaceEngineConfig::SetHexagonToUnsignedPD() {
  dsp_flags_ |= static_cast<uint32_t>(LATHE_DSP_UNSIGNED);
  return MaceStatus();
}
inline MaceStatus MaceEngineConfig::SetHexagonPower(HexagonNNCornerType corner, bool dcvs_enable, int latency) {
  if (static_cast<int>(corner) < HEXAGON_NN_CORNER_RELEASE || static_cast<int>(corner) > HEXAGON_NN_CORNER_SVS2)
    return face::Refuse("there is no such HexagonNNCornerType: " + std::to_string(static_cast<int>(corner)));
  if (latency < 0) return face::Refuse("the latency is below 0: " + std::to_string(latency));
  dsp_power_ = static_cast<uint32_t>(corner) + static_cast<uint32_t>(LATHE_DSP_POWER_RELEASE);
  dsp_latency_ = static_cast<uint32_t>(latency);
  const uint32_t fixed = static_cast<uint32_t>(LATHE_DSP_FIXED_CLOCKS);
  dsp_flags_ = dcvs_enable ? dsp_flags_ & ~fixed : dsp_flags_ | fixed;
  return MaceStatus();
}
inline MaceStatus MaceEngineConfig::SetAPUCache(APUCachePolicy, const std::string&, const std::string&) {
  return MaceStatus(MaceStatus::MACE_UNSUPPORTED, "no library runs on an APU");
}

inline MaceTensor::MaceTensor(const std::vector<int64_t>& shape, std::shared_ptr<void> data, const DataFormat format,
                              const IDataType data_type)
    : shape_(shape), data_(data), format_(format), data_type_(data_type), typed_(true), room_(1) {
  for (const int64_t size : shape) {
    const bool fits = size >= 0 && (size == 0 || room_ <= INT64_MAX / size);
    room_ = fits ? room_ * size : 0;
  }
}

inline MaceEngine::MaceEngine(const MaceEngineConfig& config)
    : engine_(new face::Engine(config.device_type_, config.num_threads_, config.policy_,
                               face::DeviceWishes{config.gpu_context_, config.perf_hint_, config.priority_hint_,
                                                  config.dsp_flags_, config.dsp_power_, config.dsp_latency_})) {}
inline MaceEngine::~MaceEngine() {}

inline MaceStatus MaceEngine::Init(const NetDef* net_def, const std::vector<std::string>& input_nodes,
                                   const std::vector<std::string>& output_nodes, const unsigned char* model_data,
                                   const int64_t model_data_size) {
  if (net_def == nullptr) return face::Refuse("there is no model graph");
  if (model_data_size < 0) return face::Refuse("the size of the model data is negative");
  const bool given = model_data != nullptr && model_data_size > 0;
  const lathe_bytes data = {model_data, static_cast<size_t>(model_data_size)};
  return engine_->Init(*net_def, input_nodes, output_nodes, given ? data : net_def->data());
}

inline MaceStatus MaceEngine::Init(const NetDef* net_def, const std::vector<std::string>& input_nodes,
                                   const std::vector<std::string>& output_nodes, const std::string& model_data_file) {
  if (net_def == nullptr) return face::Refuse("there is no model graph");
  return engine_->Init(*net_def, input_nodes, output_nodes, model_data_file);
}

inline MaceStatus MaceEngine::Init(const NetDef* net_def, const std::vector<std::string>& input_nodes,
                                   const std::vector<std::string>& output_nodes, const unsigned char* model_data) {
  if (net_def != nullptr && model_data != nullptr && model_data != net_def->data().data)
    return face::Refuse("the size of the model data is missing");
  return Init(net_def, input_nodes, output_nodes, nullptr, 0);
}

inline MaceStatus MaceEngine::Run(const std::map<std::string, MaceTensor>& inputs,
                                  std::map<std::string, MaceTensor>* outputs) {
  return engine_->Run(inputs, outputs, nullptr);
}

inline MaceStatus MaceEngine::Run(const std::map<std::string, MaceTensor>& inputs,
                                  std::map<std::string, MaceTensor>* outputs, RunMetadata* run_metadata) {
  return engine_->Run(inputs, outputs, run_metadata);
}

inline MaceStatus MaceEngine::ReleaseIntermediateBuffer() { return engine_->Release(); }

namespace face {

inline Capability CapabilityOf(const Libraries& libraries, DeviceType device_type) {
  Capability capability = {{-1.f}, {-1.f}, device_type == CPU};
  for (const lathe_api* api : libraries)
    capability.supported = capability.supported || (device_type == GPU && HasKernelsFor(api, "__opencl")) ||
                           (device_type == HEXAGON && HasKernelsFor(api, "__hexagon"));
  if (device_type != CPU) return capability;
  constexpr size_t count = 4096;
  std::vector<float> sums(count, 0.f), factors(count, 0.999f);
  const auto start = std::chrono::steady_clock::now();
  for (size_t round = 0; round < (size_t{1} << 24) / count; ++round) {
    for (size_t i = 0; i < count; ++i) sums[i] = sums[i] * factors[i] + 1.f;
  }
  const std::chrono::duration<float, std::milli> time = std::chrono::steady_clock::now() - start;
  volatile const float used = sums[count / 2];  // so that the loop is not left out
  static_cast<void>(used);
  capability.float32_performance.exec_time = time.count();
  return capability;
}

inline MaceStatus CreateFromProto(const Libraries& libraries, const void* graph, size_t graph_size,
                                  const MaceEngineConfig& config, std::shared_ptr<MaceEngine>* engine,
                                  std::unique_ptr<NetDef>* net) {
  if (engine == nullptr) return Refuse("'engine' is null");
  engine->reset(new MaceEngine(config));
  if (graph == nullptr || graph_size == 0) return Refuse("the model graph is empty");
  if (IsOfMace(graph, graph_size))
    return Refuse(
        "this model graph was made by MACE, and only those that Lathe has converted can be read: convert the model "
        "that "
        "it was made from (lathe convert --config FILE takes the same deployment file)");
  net->reset(new NetDef(libraries, std::string(static_cast<const char*>(graph), graph_size)));
  return MaceStatus();
}

// The name of a model among those inside of the libraries; null where there is none.
inline MaceStatus FindModel(const Libraries& libraries, const std::string& name, std::unique_ptr<NetDef>* net) {
  Names known;
  for (const lathe_api* api : libraries) {
    for (size_t i = 0; i < api->model_count(); ++i) {
      const lathe_embedded_model* model = api->model_at(i);
      known.push_back(model->name);
      if (name != model->name) continue;
      if (*net != nullptr) return Refuse("several libraries hold a model '" + name + "'");
      net->reset(new NetDef(Libraries(1, api), model->model, model->data));
    }
  }
  if (*net != nullptr) return MaceStatus();
  return Refuse(
      "no library that is known here holds a model '" + name + "'" +
      (known.empty() ? ", or any: build with model_graph_format: code" : "; there is: " + Listed(known, ", ")));
}

}  // namespace face

// An engine from the contents of a model's .pb and .data files. The weights are used where they are and must live as
// long as the engine; the graph need not.
static inline MaceStatus CreateMaceEngineFromProto(
    const unsigned char* model_graph_proto, const size_t model_graph_proto_size,
    const unsigned char* model_weights_data, const size_t model_weights_data_size,
    const std::vector<std::string>& input_nodes, const std::vector<std::string>& output_nodes,
    const MaceEngineConfig& config, std::shared_ptr<MaceEngine>* engine) {
  std::unique_ptr<NetDef> net;
  const MaceStatus status =
      face::CreateFromProto(BoundLibraries(), model_graph_proto, model_graph_proto_size, config, engine, &net);
  if (face::Failed(status)) return status;
  return (*engine)->Init(net.get(), input_nodes, output_nodes, model_weights_data,
                         static_cast<int64_t>(model_weights_data_size));
}

// The same with the weights in a file, which is mapped into memory.
MACE_DEPRECATED static inline MaceStatus CreateMaceEngineFromProto(const std::vector<unsigned char>& model_pb,
                                                                   const std::string& model_data_file,
                                                                   const std::vector<std::string>& input_nodes,
                                                                   const std::vector<std::string>& output_nodes,
                                                                   const MaceEngineConfig& config,
                                                                   std::shared_ptr<MaceEngine>* engine) {
  std::unique_ptr<NetDef> net;
  const MaceStatus status =
      face::CreateFromProto(BoundLibraries(), model_pb.data(), model_pb.size(), config, engine, &net);
  if (face::Failed(status)) return status;
  return (*engine)->Init(net.get(), input_nodes, output_nodes, model_data_file);
}

// What a kind of device can do. For the CPU `float32_performance` is the time in milliseconds of a loop of 2^24
// multiplications and additions in one thread, measured in the call: good for comparing devices, not for predicting
// models. A GPU or a DSP is supported where a library that is known here has kernels for it; its times are not known,
// and whether there is a driver shows when an engine is made. Other devices are not supported.
static inline Capability GetCapability(DeviceType device_type, float /* cpu_float32_exec_time */ = 1.f) {
  return face::CapabilityOf(BoundLibraries(), device_type);
}

// MACE generates these for models as code. A library of Lathe uses what it contains without them: there is nothing to
// hand to a GPUContextBuilder, and a size of zero says so. A program may declare them itself, as MACE's examples do.
static inline const unsigned char* LoadOpenCLBinary() { return nullptr; }
static inline size_t OpenCLBinarySize() { return 0; }
static inline const unsigned char* LoadOpenCLParameter() { return nullptr; }
static inline size_t OpenCLParameterSize() { return 0; }

// The version of Lathe that made the library.
static inline const char* MaceVersion() {
  return BoundLibraries().empty() ? "no library" : BoundLibraries().front()->version;
}

}  // namespace mace

#endif  // MACE_FACE_CREATE_H_
