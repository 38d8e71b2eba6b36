// The declarations behind mace/public/mace.h.
#ifndef MACE_FACE_INTERFACE_H_
#define MACE_FACE_INTERFACE_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#ifndef MACE_API
#define MACE_API __attribute__((visibility("default")))
#endif

#ifndef MACE_DEPRECATED
#define MACE_DEPRECATED __attribute__((deprecated))
#endif

namespace mace {

class NetDef;
class GPUContext;

namespace face {
class Engine;
}

enum DeviceType { CPU = 0, GPU = 2, HEXAGON = 3, HTA = 4, APU = 5 };

enum IDataType {
  IDT_INVALID = 0,
  IDT_FLOAT = 1,
  IDT_UINT8 = 2,
  IDT_HALF = 3,  // the same as IDT_FLOAT16
  IDT_INT32 = 4,
  IDT_FLOAT16 = 5,
  IDT_BFLOAT16 = 6,
  IDT_INT16 = 7,
  IDT_INT8 = 8,

  IDT_END,
};

enum class DataFormat {
  NONE = 0,
  NHWC = 1,
  NCHW = 2,
  HWOI = 100,
  OIHW = 101,
  HWIO = 102,
  OHWI = 103,
  AUTO = 1000,
};

enum GPUPerfHint { PERF_DEFAULT = 0, PERF_LOW = 1, PERF_NORMAL = 2, PERF_HIGH = 3 };

enum GPUPriorityHint { PRIORITY_DEFAULT = 0, PRIORITY_LOW = 1, PRIORITY_NORMAL = 2, PRIORITY_HIGH = 3 };

// Which cores the threads of an engine run on. Big and little cores are those with the highest and with the lowest
// frequency; where all are alike, or the system does not tell, no policy does anything.
enum CPUAffinityPolicy {
  AFFINITY_NONE = 0,
  AFFINITY_BIG_ONLY = 1,
  AFFINITY_LITTLE_ONLY = 2,
  AFFINITY_HIGH_PERFORMANCE = 3,  // as many of the fastest as there are threads
  AFFINITY_POWER_SAVE = 4,        // as many of the slowest
};

enum HexagonNNCornerType {
  HEXAGON_NN_CORNER_RELEASE,
  HEXAGON_NN_CORNER_TURBO,
  HEXAGON_NN_CORNER_NOMPLUS,
  HEXAGON_NN_CORNER_NOMINAL,
  HEXAGON_NN_CORNER_SVSPLUS,
  HEXAGON_NN_CORNER_SVS,
  HEXAGON_NN_CORNER_SVS2,
};

enum APUCachePolicy { APU_CACHE_NONE = 0, APU_CACHE_STORE = 1, APU_CACHE_LOAD = 2 };

struct CallStats {
  int64_t start_micros;
  int64_t end_micros;
};

// Of convolutions and pools; empty for others.
struct ConvPoolArgs {
  std::vector<int> strides;
  int padding_type;           // always -1: `paddings` has the numbers
  std::vector<int> paddings;  // in all, of height and width
  std::vector<int> dilations;
  std::vector<int64_t> kernels;  // the filter as OIHW, or the window of a pool
};

// One node of a run. `type` is MACE's word where MACE has the operator, else Lathe's.
struct OperatorStats {
  std::string operator_name;
  std::string type;
  std::vector<std::vector<int64_t>> output_shape;
  ConvPoolArgs args;
  CallStats stats;
};

class RunMetadata {
 public:
  std::vector<OperatorStats> op_stats;
};

struct PerformanceInfo {
  float exec_time;  // negative where it is not known
};

struct Capability {
  PerformanceInfo float32_performance;
  PerformanceInfo quantized8_performance;
  bool supported;
};

class MACE_API MaceStatus {
 public:
  enum Code {
    MACE_SUCCESS = 0,
    MACE_INVALID_ARGS = 1,
    MACE_OUT_OF_RESOURCES = 2,
    MACE_UNSUPPORTED = 3,
    MACE_RUNTIME_ERROR = 4,
  };

  MaceStatus() : code_(MACE_SUCCESS) {}
  MaceStatus(const Code code) : code_(code) {}
  MaceStatus(const Code code, const std::string& information) : code_(code), information_(information) {}

  Code code() const { return code_; }
  // The code in words, and what is known beyond it.
  std::string information() const;

  bool operator==(const MaceStatus& other) const { return code_ == other.code_; }
  bool operator!=(const MaceStatus& other) const { return code_ != other.code_; }

 private:
  Code code_;
  std::string information_;
};

// Settings of a GPU. A storage path is a folder that is there: programs that were built are kept in it for the next
// start; binaries and parameters are what lathe_api.device_data gives, in files or in memory that lives until engines
// are made.
class MACE_API GPUContextBuilder {
 public:
  GPUContextBuilder();
  GPUContextBuilder(const GPUContextBuilder&) = delete;
  GPUContextBuilder& operator=(const GPUContextBuilder&) = delete;

  GPUContextBuilder& SetStoragePath(const std::string& path);
  GPUContextBuilder& SetOpenCLBinaryPaths(const std::vector<std::string>& paths);
  GPUContextBuilder& SetOpenCLBinary(const unsigned char* data, const size_t size);
  GPUContextBuilder& SetOpenCLParameterPath(const std::string& path);
  GPUContextBuilder& SetOpenCLParameter(const unsigned char* data, const size_t size);

  std::shared_ptr<GPUContext> Finalize();

 private:
  std::shared_ptr<GPUContext> made_;
};

// What an engine runs on. DeviceType::GPU and HEXAGON compute what the model's build gave the GPU or the DSP there,
// where there is one, else on the CPU, with a warning in the log; DeviceType::CPU does all on the CPU. Settings of
// devices that no library runs on are answered with MACE_UNSUPPORTED.
class MACE_API MaceEngineConfig {
 public:
  explicit MaceEngineConfig(const DeviceType device_type) : device_type_(device_type) {}
  MaceEngineConfig(const MaceEngineConfig&) = delete;
  MaceEngineConfig& operator=(const MaceEngineConfig&) = delete;

  MaceStatus SetGPUContext(std::shared_ptr<GPUContext> context);
  MaceStatus SetGPUHints(GPUPerfHint perf_hint, GPUPriorityHint priority_hint);
  // Zero or fewer threads: one for each core of the policy. More threads than such cores are cut to their number.
  MaceStatus SetCPUThreadPolicy(int num_threads_hint, CPUAffinityPolicy policy);
  // The program runs without a signature, even where hexagon_unsigned of the build is 0.
  MaceStatus SetHexagonToUnsignedPD();
  // Goes before hexagon_power of the build. `latency` in microseconds; 0: as the DSP's system decides.
  MaceStatus SetHexagonPower(HexagonNNCornerType corner, bool dcvs_enable, int latency);
  MaceStatus SetAPUCache(APUCachePolicy policy, const std::string& binary_file, const std::string& storage_file);

 private:
  friend class MaceEngine;

  DeviceType device_type_;
  std::shared_ptr<GPUContext> gpu_context_;
  int num_threads_ = -1;
  CPUAffinityPolicy policy_ = AFFINITY_NONE;
  uint32_t dsp_flags_ = 0;  // what is said of a DSP: as lathe_device_options has it
  uint32_t dsp_power_ = 0;
  uint32_t dsp_latency_ = 0;
  GPUPerfHint perf_hint_ = PERF_DEFAULT;
  GPUPriorityHint priority_hint_ = PRIORITY_DEFAULT;
};

// An input or an output: a shape, the order of its dimensions, and a buffer of the caller's. Copies share the buffer.
class MACE_API MaceTensor {
 public:
  MaceTensor() : format_(DataFormat::NHWC), data_type_(IDT_FLOAT), typed_(false), room_(0) {}
  // No type is named, as before MACE 1.0.4: the buffer of a floating-point tensor holds float, that of a whole-number
  // tensor int32_t, or the smaller type of the model.
  MaceTensor(const std::vector<int64_t>& shape, std::shared_ptr<void> data, const DataFormat format = DataFormat::NHWC)
      : MaceTensor(shape, data, format, IDT_FLOAT) {
    typed_ = false;
  }
  // The elements of the buffer have this type; they are converted where the model's tensor has another.
  MaceTensor(const std::vector<int64_t>& shape, std::shared_ptr<void> data, const DataFormat format,
             const IDataType data_type);

  // Of an output, after a run: what it has become. Before: as much as the buffer has room for.
  const std::vector<int64_t>& shape() const { return shape_; }
  const std::shared_ptr<float> data() const { return std::static_pointer_cast<float>(data_); }
  std::shared_ptr<float> data() { return std::static_pointer_cast<float>(data_); }
  template <typename T>
  const std::shared_ptr<T> data() const {
    return std::static_pointer_cast<T>(data_);
  }
  template <typename T>
  std::shared_ptr<T> data() {
    return std::static_pointer_cast<T>(data_);
  }
  DataFormat data_format() const { return format_; }
  IDataType data_type() const { return data_type_; }

 private:
  friend class face::Engine;

  std::vector<int64_t> shape_;
  std::shared_ptr<void> data_;
  DataFormat format_;
  IDataType data_type_;
  bool typed_;    // whether the caller has named the type
  int64_t room_;  // elements of the buffer
};

// A model that is ready to run, by one thread at a time.
class MACE_API MaceEngine {
 public:
  explicit MaceEngine(const MaceEngineConfig& config);
  MaceEngine(const MaceEngine&) = delete;
  MaceEngine& operator=(const MaceEngine&) = delete;
  ~MaceEngine();

  // `net_def` is what CreateNet() of a generated header gives. `model_data` must live as long as the engine.
  MaceStatus Init(const NetDef* net_def, const std::vector<std::string>& input_nodes,
                  const std::vector<std::string>& output_nodes, const unsigned char* model_data,
                  const int64_t model_data_size);
  MaceStatus Init(const NetDef* net_def, const std::vector<std::string>& input_nodes,
                  const std::vector<std::string>& output_nodes, const std::string& model_data_file);
  // For data inside of the library, whose size is known.
  MaceStatus Init(const NetDef* net_def, const std::vector<std::string>& input_nodes,
                  const std::vector<std::string>& output_nodes, const unsigned char* model_data);

  // A tensor in NHWC or NCHW goes into a model that declares the other order, and comes out of it, turned around. An
  // input keeps its contents until it is given again or shapes change. Outputs that are not in the map are computed and
  // left where they are.
  MaceStatus Run(const std::map<std::string, MaceTensor>& inputs, std::map<std::string, MaceTensor>* outputs);
  MaceStatus Run(const std::map<std::string, MaceTensor>& inputs, std::map<std::string, MaceTensor>* outputs,
                 RunMetadata* run_metadata);

  // Gives back all memory but weights; the next run takes it again.
  MaceStatus ReleaseIntermediateBuffer();

 private:
  std::unique_ptr<face::Engine> engine_;
};

}  // namespace mace

#endif  // MACE_FACE_INTERFACE_H_
