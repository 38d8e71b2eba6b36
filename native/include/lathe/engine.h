// The C++17 face of a tailored library: a header over the C table of lathe/c_api.h, with nothing to link but the
// library itself. Objects are move-only and free what they own; nothing throws. A session keeps its engine alive, an
// engine its pool, so the order of destruction does not matter.
//
//   auto engine = lathe::Engine::Create(lathe_api_digits());
//   if (!engine.ok()) return fail(engine.status().message());
//   auto session = engine->CreateSession();
//   auto input = session->Input(0);
//   std::copy(pixels.begin(), pixels.end(), input->data<float>());
//   lathe::Status status = session->Run();
//   auto output = session->Output("probabilities");
//
// docs/reference/cpp-api.md is the tour.
#ifndef LATHE_ENGINE_H_
#define LATHE_ENGINE_H_

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "lathe/vision.h"

namespace lathe {
inline namespace cpp_v1 {

// What came of a call: `ok`, or a code and a message that says what is wrong where.
class Status {
 public:
  Status() = default;
  Status(lathe_code code, std::string message) : code_(code), message_(std::move(message)) {}
  Status(lathe_code code, const lathe_error& error) : code_(code), message_(code == LATHE_OK ? "" : error.message) {}

  bool ok() const { return code_ == LATHE_OK; }
  lathe_code code() const { return code_; }
  const std::string& message() const { return message_; }

 private:
  lathe_code code_ = LATHE_OK;
  std::string message_;
};

// A value, or the status that says why there is none. Look at `ok` before the value: without one, reading it prints the
// status and ends the program.
template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : value_(std::move(value)) {}
  Result(Status status) : status_(std::move(status)) {}

  bool ok() const { return value_.has_value(); }
  const Status& status() const { return status_; }
  T& operator*() & { return Checked(), *value_; }
  const T& operator*() const& { return Checked(), *value_; }
  T&& operator*() && { return Checked(), std::move(*value_); }
  T* operator->() { return Checked(), &*value_; }
  const T* operator->() const { return Checked(), &*value_; }

 private:
  void Checked() const {
    if (value_.has_value()) return;
    fprintf(stderr, "lathe: a Result was read that has no value: %s\n", status_.message().c_str());
    abort();
  }
  Status status_;
  std::optional<T> value_;
};

using Dims = std::vector<int64_t>;

// The element type of C++ types; f16 and bf16 have none and are read as uint16_t bits through `bytes`.
template <typename T>
constexpr lathe_dtype DTypeOf() {
  if constexpr (std::is_same_v<T, float>) return LATHE_F32;
  if constexpr (std::is_same_v<T, double>) return LATHE_F64;
  if constexpr (std::is_same_v<T, int8_t>) return LATHE_S8;
  if constexpr (std::is_same_v<T, uint8_t>) return LATHE_U8;
  if constexpr (std::is_same_v<T, int16_t>) return LATHE_S16;
  if constexpr (std::is_same_v<T, uint16_t>) return LATHE_U16;
  if constexpr (std::is_same_v<T, int32_t>) return LATHE_S32;
  if constexpr (std::is_same_v<T, uint32_t>) return LATHE_U32;
  if constexpr (std::is_same_v<T, int64_t>) return LATHE_S64;
  if constexpr (std::is_same_v<T, uint64_t>) return LATHE_U64;
  if constexpr (std::is_same_v<T, bool>) return LATHE_BOOL;
  return 0;
}

// A view of a tensor of a session: valid until the session is resized, bound anew or destroyed.
class Tensor {
 public:
  Tensor(const lathe_tensor_info& info, void* data) : info_(info), data_(data) {}

  const char* name() const { return info_.name; }
  const char* format() const { return info_.format; }  // NHWC, NCHW, NONE ...
  lathe_dtype dtype() const { return info_.dtype; }
  Dims shape() const { return Dims(info_.dims, info_.dims + info_.rank); }
  Dims min_shape() const { return Dims(info_.dims_min, info_.dims_min + info_.rank); }
  Dims max_shape() const { return Dims(info_.dims_max, info_.dims_max + info_.rank); }
  int64_t size() const {  // elements
    int64_t count = 1;
    for (uint32_t axis = 0; axis < info_.rank; ++axis) count *= info_.dims[axis];
    return count;
  }
  size_t byte_size() const { return info_.bytes; }
  void* bytes() const { return data_; }
  // Null where T is not the element type.
  template <typename T>
  T* data() const {
    return DTypeOf<std::remove_const_t<T>>() == info_.dtype ? static_cast<T*>(data_) : nullptr;
  }

 private:
  lathe_tensor_info info_;
  void* data_;
};

// The functions for images that a library holds, some of which may be null; null where there are none.
inline const lathe_vision_api* VisionOf(const lathe_api* api) {
  return api->struct_size > offsetof(lathe_api, vision) ? api->vision : nullptr;
}

// Threads that several engines of one library may share.
class Pool {
 public:
  // `threads` counts the thread that runs a session; 0 means one per core.
  static Result<Pool> Create(const lathe_api* api, int threads = 0) {
    lathe_error error = {};
    lathe_pool* pool = nullptr;
    const lathe_code code = api->pool_create(threads, &pool, &error);
    if (code != LATHE_OK) return Status(code, error);
    return Pool(std::shared_ptr<lathe_pool>(pool, api->pool_destroy));
  }
  Pool(Pool&&) = default;
  Pool& operator=(Pool&&) = default;

 private:
  friend class Engine;
  explicit Pool(std::shared_ptr<lathe_pool> pool) : pool_(std::move(pool)) {}
  std::shared_ptr<lathe_pool> pool_;
};

enum class DeviceKind : uint32_t {
  kAny = LATHE_DEVICE_ANY,  // what the model was built for, where there is a driver; else the CPU
  kCpu = LATHE_DEVICE_CPU,
  kGpu = LATHE_DEVICE_GPU,  // the GPU, or an error that says why not
  kDsp = LATHE_DEVICE_DSP,  // the same for a DSP
};

// Which cores threads stay on: see LATHE_POWER_*.
enum class PowerMode : uint32_t {
  kNoBind = LATHE_POWER_NO_BIND,      // the system moves threads
  kHigh = LATHE_POWER_HIGH,           // the fast cores
  kLow = LATHE_POWER_LOW,             // the slow ones
  kFull = LATHE_POWER_FULL,           // as many cores as threads, the fast ones first
  kRandHigh = LATHE_POWER_RAND_HIGH,  // as many fast cores as threads, in turns of ten runs
  kRandLow = LATHE_POWER_RAND_LOW,
};

// The cores of the threads of an engine. A mode binds nothing where the cores are alike or the system refuses.
struct CpuOptions {
  PowerMode power = PowerMode::kNoBind;
  std::vector<uint32_t> cores;  // these, whatever the mode
};

enum class CoreKind : uint32_t { kAlike = LATHE_CORE_ALIKE, kBig = LATHE_CORE_BIG, kLittle = LATHE_CORE_LITTLE };

// A core of this machine; 0 where the system does not tell.
struct Core {
  uint32_t number = 0;
  CoreKind kind = CoreKind::kAlike;
  bool allowed = true;  // the calling thread may run there
  uint32_t capacity = 0;
  uint32_t max_khz = 0;
};

// Empty with an older library.
inline std::vector<Core> CoresOf(const lathe_api* api) {
  std::vector<Core> cores;
  if (api->struct_size <= offsetof(lathe_api, engine_cores)) return cores;
  for (size_t index = 0; index < api->core_count(); ++index) {
    lathe_core_info info = {};
    info.struct_size = sizeof(info);
    if (api->core_at(index, &info, nullptr) != LATHE_OK) break;
    cores.push_back({info.core, static_cast<CoreKind>(info.kind), info.allowed != 0, info.capacity, info.max_khz});
  }
  return cores;
}

// How hard a driver shall try, and whose work goes first, where it takes such hints.
enum class DeviceHint : uint32_t { kDefault = 0, kLow = 1, kNormal = 2, kHigh = 3 };

// How fast a DSP should be: from kTurbo on slower and slower. kAsBuilt: as the deployment file says; kRelease takes
// back what was asked for before.
enum class DspPower : uint32_t { kAsBuilt, kRelease, kTurbo, kNomPlus, kNominal, kSvsPlus, kSvs, kSvs2 };

// How the parts of a model run that were built for a GPU or a DSP. Other models have none, and nothing here matters to
// them.
struct DeviceOptions {
  DeviceKind kind = DeviceKind::kAny;
  bool check = false;    // a run that reads or writes outside of tensors fails; slow
  bool profile = false;  // observers get the times of the device instead of those of the host
  DeviceHint performance = DeviceHint::kDefault;
  DeviceHint priority = DeviceHint::kDefault;
  bool rebuild_programs = false;  // programs that were built before are not used
  std::string storage_path;       // a folder that is there, for programs that were built: the next start is quick
  std::vector<std::string> binary_paths;  // files with programs that were built elsewhere
  lathe_bytes binary = {nullptr, 0};      // such a file in memory; must outlive the creation of the engine
  std::string tuning_path;
  lathe_bytes tuning = {nullptr, 0};
  uint32_t tuning_milliseconds = 0;
  uint32_t queue_window = 0;         // the most commands that wait; 0: as the model says
  uint32_t kernel_microseconds = 0;  // longer kernels are cut; 0: as the model says
  bool dsp_unsigned = false;         // the program has no signature, even if the build says that it is signed
  bool dsp_fixed_clocks = false;     // clocks do not follow the load
  DspPower dsp_power = DspPower::kAsBuilt;
  uint32_t dsp_latency = 0;  // microseconds until the DSP is awake, at most; 0: as its system decides
};

// What runs the parts for a device.
struct DeviceInfo {
  bool on_device = false;
  DeviceKind kind = DeviceKind::kCpu;
  std::string device;  // its name; empty where there is none
  std::string driver;
  std::string reason;  // why such parts run on the CPU; empty where none do
  uint32_t programs_built = 0;
  uint32_t programs_loaded = 0;
  float programs_ms = 0;  // how long that took
  size_t memory = 0;      // bytes on the device

  // Whether the model has parts for a device at all.
  bool has_parts() const { return on_device || !reason.empty(); }
};

// Where the model comes from, in this order: memory, a file, the library itself (by name, or the only one).
struct EngineOptions {
  int threads = 0;  // one per core
  std::string model_name;
  std::string model_path;
  std::string data_path;
  lathe_bytes model = {nullptr, 0};  // must outlive the engine
  lathe_bytes data = {nullptr, 0};
  const Pool* pool = nullptr;                  // instead of threads of its own
  const lathe_allocator* allocator = nullptr;  // instead of malloc; must outlive the engine
  std::string isa_limit;                       // no better instruction set than this, by the word of its kernels
  DeviceOptions device;
  CpuOptions cpu;  // for a pool that is given: as Bind, where it binds anything
};

struct SessionOptions {
  bool keep_all = false;  // keep every intermediate value, so that `Value` can read it
};

class Session {
 public:
  Session(Session&&) = default;
  Session& operator=(Session&&) = default;

  size_t input_count() const { return api_->input_count(engine_.get()); }
  size_t output_count() const { return api_->output_count(engine_.get()); }

  // The session's own buffer of an input: write into it before `Run`.
  Result<Tensor> Input(size_t index) {
    void* data = nullptr;
    return View(
        api_->input_info, index,
        [&](lathe_error* error) { return api_->input_data(session_.get(), index, &data, nullptr, error); }, data);
  }
  Result<Tensor> Input(const std::string& name) {
    const size_t index = Find(api_->input_info, input_count(), name);
    return index < input_count() ? Input(index) : Result<Tensor>(Missing("input", name));
  }
  // Where the last `Run` left an output.
  Result<Tensor> Output(size_t index) const {
    const void* data = nullptr;
    return View(
        api_->output_info, index,
        [&](lathe_error* error) { return api_->output_data(session_.get(), index, &data, nullptr, error); }, data);
  }
  Result<Tensor> Output(const std::string& name) const {
    const size_t index = Find(api_->output_info, output_count(), name);
    return index < output_count() ? Output(index) : Result<Tensor>(Missing("output", name));
  }
  // Any value by its name or the one it had in the source model; inner ones need SessionOptions::keep_all.
  Result<Tensor> Value(const std::string& name) const {
    lathe_error error = {};
    lathe_tensor_info info = {};
    info.struct_size = sizeof(info);
    const void* data = nullptr;
    const lathe_code code = api_->value(session_.get(), name.c_str(), &info, &data, &error);
    if (code != LATHE_OK) return Status(code, error);
    return Tensor(info, const_cast<void*>(data));
  }

  // All values that outlive the run: inputs, outputs, constants, and with keep_all the inner ones.
  std::vector<Tensor> Values() const {
    std::vector<Tensor> values;
    if (api_->struct_size < offsetof(lathe_api, node_at)) return values;  // an older library
    for (size_t index = 0; index < api_->value_count(engine_.get()); ++index) {
      lathe_tensor_info info = {};
      info.struct_size = sizeof(info);
      const void* data = nullptr;
      const lathe_code code = api_->value_at(session_.get(), index, &info, &data, nullptr);
      if (code == LATHE_OK && data != nullptr) values.emplace_back(info, const_cast<void*>(data));
    }
    return values;
  }

  // New shapes for all inputs, in order.
  Status Resize(const std::vector<Dims>& shapes) {
    std::vector<lathe_shape> plain(shapes.size());
    for (size_t i = 0; i < shapes.size(); ++i) {
      if (shapes[i].size() > LATHE_MAX_RANK) return Status(LATHE_INVALID_ARGUMENT, "a shape has too many dimensions");
      plain[i].rank = static_cast<uint32_t>(shapes[i].size());
      for (size_t axis = 0; axis < shapes[i].size(); ++axis) plain[i].dims[axis] = shapes[i][axis];
    }
    return Call([&](lathe_error* error) { return api_->resize(session_.get(), plain.size(), plain.data(), error); });
  }

  // Buffers of yours, read and written by every `Run`: in place where they are aligned to 64. NULL unbinds.
  Status BindInput(size_t index, const void* data, size_t bytes) {
    return Call([&](lathe_error* error) { return api_->bind_input(session_.get(), index, data, bytes, error); });
  }
  Status BindOutput(size_t index, void* data, size_t bytes) {
    return Call([&](lathe_error* error) { return api_->bind_output(session_.get(), index, data, bytes, error); });
  }

  Status Run() {
    return Call([&](lathe_error* error) { return api_->run(session_.get(), error); });
  }

  // Fills an input from an image as `preprocess` of the deployment says. `part`: left, top, width and height, instead
  // of the deployment's crop. `placement`: the way back for boxes and points.
  Status SetImage(const lathe_image& image, size_t input = 0, lathe_placement* placement = nullptr,
                  const int32_t* part = nullptr) {
    const lathe_vision_api* held = vision();
    if (held == nullptr || held->set_image == nullptr) return NoImages();
    return Call(
        [&](lathe_error* error) { return held->set_image(session_.get(), input, &image, part, placement, error); });
  }
  // The same, and the run, for models with one input.
  Status RunImage(const lathe_image& image, lathe_placement* placement = nullptr, const int32_t* part = nullptr) {
    const lathe_vision_api* held = vision();
    if (held == nullptr || held->run_image == nullptr) return NoImages();
    return Call([&](lathe_error* error) { return held->run_image(session_.get(), 0, &image, part, placement, error); });
  }
  // The functions for images that the library holds; null where there are none.
  const lathe_vision_api* vision() const { return VisionOf(api_); }

  // Called after each node of `Run`; NULL stops that.
  void SetObserver(lathe_observer observer, void* user) { api_->set_observer(session_.get(), observer, user); }

  lathe_memory_info memory_info() const {
    lathe_memory_info info = {};
    info.struct_size = sizeof(info);
    api_->memory_info(session_.get(), &info);
    return info;
  }

 private:
  friend class Engine;
  using InfoFunction = lathe_code (*)(const lathe_session*, size_t, lathe_tensor_info*, lathe_error*);

  Session(const lathe_api* api, std::shared_ptr<lathe_engine> engine, lathe_session* session)
      : api_(api), engine_(std::move(engine)), session_(session, api->session_destroy) {}

  template <typename Function>
  static Status Call(Function function) {
    lathe_error error = {};
    const lathe_code code = function(&error);
    return Status(code, error);
  }

  template <typename Function, typename Data>
  Result<Tensor> View(InfoFunction get_info, size_t index, Function get_data, const Data& data) const {
    lathe_tensor_info info = {};
    info.struct_size = sizeof(info);
    Status status = Call([&](lathe_error* error) { return get_info(session_.get(), index, &info, error); });
    if (status.ok()) status = Call(get_data);
    if (!status.ok()) return status;
    return Tensor(info, const_cast<void*>(static_cast<const void*>(data)));
  }

  size_t Find(InfoFunction get_info, size_t count, const std::string& name) const {
    for (size_t index = 0; index < count; ++index) {
      lathe_tensor_info info = {};
      info.struct_size = sizeof(info);
      if (get_info(session_.get(), index, &info, nullptr) == LATHE_OK && name == info.name) return index;
    }
    return count;
  }

  static Status NoImages() {
    return Status(LATHE_UNSUPPORTED, "the library was built without 'preprocess' in its deployment");
  }

  static Status Missing(const char* kind, const std::string& name) {
    return Status(LATHE_INVALID_ARGUMENT, std::string("the model has no ") + kind + " '" + name + "'");
  }

  const lathe_api* api_;
  std::shared_ptr<lathe_engine> engine_;
  std::unique_ptr<lathe_session, void (*)(lathe_session*)> session_;
};

// A model that is ready to run. Sessions of one engine may run in several threads at once, each in one at a time.
class Engine {
 public:
  static Result<Engine> Create(const lathe_api* api, const EngineOptions& options = {}) {
    if (api == nullptr || api->abi_version != LATHE_ABI_VERSION)
      return Status(LATHE_UNSUPPORTED, "the library has another version of the binary interface than this header");
    const auto text = [](const std::string& string) { return string.empty() ? nullptr : string.c_str(); };
    lathe_engine_options plain = {};
    plain.struct_size = sizeof(plain);
    plain.num_threads = options.threads;
    plain.model_name = text(options.model_name);
    plain.model_path = text(options.model_path);
    plain.data_path = text(options.data_path);
    plain.model = options.model;
    plain.data = options.data;
    plain.pool = options.pool != nullptr ? options.pool->pool_.get() : nullptr;
    plain.allocator = options.allocator;
    plain.isa_limit = text(options.isa_limit);
    std::vector<const char*> binary_paths;
    const lathe_device_options device = Plain(options.device, &binary_paths);
    plain.device = &device;
    const lathe_cpu_options cpu = Plain(options.cpu);
    if (cpu.power != LATHE_POWER_NO_BIND || cpu.core_count != 0) plain.cpu = &cpu;
    lathe_error error = {};
    lathe_engine* engine = nullptr;
    const lathe_code code = api->engine_create(&plain, &engine, &error);
    if (code != LATHE_OK) return Status(code, error);
    // The deleter holds the pool: it goes after the engine.
    auto pool = options.pool != nullptr ? options.pool->pool_ : nullptr;
    const auto destroy = [api, pool](lathe_engine* dead) { api->engine_destroy(dead); };
    return Engine(api, std::shared_ptr<lathe_engine>(engine, destroy));
  }
  Engine(Engine&&) = default;
  Engine& operator=(Engine&&) = default;

  size_t input_count() const { return api_->input_count(engine_.get()); }
  size_t output_count() const { return api_->output_count(engine_.get()); }

  // Starts with every bounded dimension at its bound.
  Result<Session> CreateSession(const SessionOptions& options = {}) const {
    lathe_session_options plain = {sizeof(plain), options.keep_all ? uint32_t{LATHE_SESSION_KEEP_ALL} : 0u};
    lathe_error error = {};
    lathe_session* session = nullptr;
    const lathe_code code = api_->session_create(engine_.get(), &plain, &session, &error);
    if (code != LATHE_OK) return Status(code, error);
    return Session(api_, engine_, session);
  }

  // Bytes and programs may grow with the first sessions.
  DeviceInfo device_info() const {
    DeviceInfo found;
    lathe_device_info info = {};
    info.struct_size = sizeof(info);
    if (api_->struct_size < offsetof(lathe_api, device_data)) return found;  // an older library
    if (api_->device_info(engine_.get(), &info, nullptr) != LATHE_OK) return found;
    const auto text = [](const char* string) { return std::string(string != nullptr ? string : ""); };
    found.on_device = info.kind != LATHE_DEVICE_CPU;
    found.kind = static_cast<DeviceKind>(info.kind);
    found.device = text(info.device);
    found.driver = text(info.driver);
    found.reason = text(info.reason);
    found.programs_built = info.programs_built;
    found.programs_loaded = info.programs_loaded;
    found.programs_ms = info.programs_ms;
    found.memory = info.memory;
    return found;
  }

  // What the device has found out: LATHE_DEVICE_DATA_PROGRAMS for DeviceOptions::binary, or LATHE_DEVICE_DATA_TUNING
  // for DeviceOptions::tuning. Empty where there is none; valid until the next call.
  Result<lathe_bytes> device_data(uint32_t what) const {
    lathe_bytes data = {nullptr, 0};
    if (api_->struct_size <= offsetof(lathe_api, device_data)) return data;  // an older library
    lathe_error error = {};
    const lathe_code code = api_->device_data(engine_.get(), what, &data, &error);
    if (code != LATHE_OK) return Status(code, error);
    return data;
  }

  // Moves the threads, and those of all engines that share the pool, from the next run on. Not while something runs.
  Status Bind(const CpuOptions& options) const {
    if (api_->struct_size <= offsetof(lathe_api, engine_cores))
      return Status(LATHE_UNSUPPORTED, "this library was built before engines could be bound: build it again");
    const lathe_cpu_options plain = Plain(options);
    lathe_error error = {};
    const lathe_code code = api_->engine_bind(engine_.get(), &plain, &error);
    return Status(code, error);
  }

  // Where the threads are in the next run; empty: anywhere.
  std::vector<uint32_t> cores() const {
    if (api_->struct_size <= offsetof(lathe_api, engine_cores)) return {};  // an older library
    std::vector<uint32_t> found(api_->engine_cores(engine_.get(), nullptr, 0));
    api_->engine_cores(engine_.get(), found.data(), found.size());
    return found;
  }

  // Called on every thread that took part in a loop, by several of them at once. Set it while nothing runs; null: none.
  // Older libraries ignore it.
  void SetThreadObserver(lathe_thread_observer observer, void* user) const {
    if (api_->struct_size > offsetof(lathe_api, set_thread_observer))
      api_->set_thread_observer(engine_.get(), observer, user);
  }

 private:
  static lathe_device_options Plain(const DeviceOptions& options, std::vector<const char*>* binary_paths) {
    const auto text = [](const std::string& string) { return string.empty() ? nullptr : string.c_str(); };
    for (const std::string& path : options.binary_paths) binary_paths->push_back(path.c_str());
    lathe_device_options plain = {};
    plain.struct_size = sizeof(plain);
    plain.kind = static_cast<uint32_t>(options.kind);
    plain.flags =
        (options.check ? uint32_t{LATHE_DEVICE_CHECK} : 0u) | (options.profile ? uint32_t{LATHE_DEVICE_PROFILE} : 0u);
    plain.perf_hint = static_cast<uint32_t>(options.performance);
    plain.priority_hint = static_cast<uint32_t>(options.priority);
    plain.rebuilds_programs = options.rebuild_programs ? 1u : 0u;
    plain.storage_path = text(options.storage_path);
    plain.binary_path_count = binary_paths->size();
    plain.binary_paths = binary_paths->data();
    plain.binary = options.binary;
    plain.tuning_path = text(options.tuning_path);
    plain.tuning = options.tuning;
    plain.tuning_milliseconds = options.tuning_milliseconds;
    plain.queue_window = options.queue_window;
    plain.kernel_microseconds = options.kernel_microseconds;
    plain.dsp_flags = (options.dsp_unsigned ? uint32_t{LATHE_DSP_UNSIGNED} : 0u) |
                      (options.dsp_fixed_clocks ? uint32_t{LATHE_DSP_FIXED_CLOCKS} : 0u);
    plain.dsp_power = static_cast<uint32_t>(options.dsp_power);
    plain.dsp_latency = options.dsp_latency;
    return plain;
  }

  static lathe_cpu_options Plain(const CpuOptions& options) {
    lathe_cpu_options plain = {};
    plain.struct_size = sizeof(plain);
    plain.power = static_cast<uint32_t>(options.power);
    plain.core_count = static_cast<uint32_t>(options.cores.size());
    plain.cores = options.cores.data();
    return plain;
  }

  Engine(const lathe_api* api, std::shared_ptr<lathe_engine> engine) : api_(api), engine_(std::move(engine)) {}

  const lathe_api* api_;
  std::shared_ptr<lathe_engine> engine_;
};

}  // namespace cpp_v1
}  // namespace lathe

#endif  // LATHE_ENGINE_H_
