// lathe_run: runs one model of a tailored library, from files to files, and tells how long it took.
//
// The library is loaded by path. Where the program defines `lathe_linked_api()` (a generated file beside a static
// library does), or is compiled with LATHE_STATIC_API=lathe_api_<name>, that library is inside of the program.
//
// Exit codes: 0 it ran, 1 the library refused something or a file is wrong, 2 the command line is wrong.
#include <dlfcn.h>

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "lathe/engine.h"
#include "native/tools/affinity.h"
#include "native/tools/crash.h"
#include "native/tools/device.h"
#include "native/tools/json.h"
#include "native/tools/npy.h"
#include "native/tools/options.h"
#include "native/tools/peak.h"
#include "native/tools/timing.h"
#include "native/tools/values.h"

extern "C" __attribute__((weak)) const lathe_api* lathe_linked_api(void);
#ifdef LATHE_STATIC_API
extern "C" const lathe_api* LATHE_STATIC_API(void);
#endif

namespace lathe_run {
namespace {

// What goes wrong ends the program with one message; everything is released on the way.
struct Failure {
  std::string code;
  std::string message;
  bool empty() const { return message.empty(); }
};

Failure Refused(const lathe::Status& status) {
  static const char* const kCodes[] = {"ok", "invalid_argument", "out_of_memory", "unsupported", "bad_model",
                                       "io", "internal"};
  const auto code = static_cast<size_t>(status.code());
  return {code < sizeof(kCodes) / sizeof(kCodes[0]) ? kCodes[code] : "unknown", status.message()};
}

struct Result {
  const lathe_api* api = nullptr;
  std::vector<std::string> values;  // those that were written
  Timings timings;
  Nanoseconds create = 0;
  Affinity affinity;
  lathe::DeviceInfo device;
  int64_t process_peak = 0;
};

bool EndsWith(const std::string& text, const std::string& end) {
  return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

// lib<name>.so -> lathe_api_<name>; what is no letter or digit becomes '_', as in the generated registry.
std::string SymbolOf(const std::string& path) {
  std::string name = path.substr(path.find_last_of('/') + 1);
  if (name.rfind("lib", 0) == 0) name = name.substr(3);
  name = name.substr(0, name.find(".so"));
  for (char& c : name) {
    const bool word = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
    if (!word) c = '_';
  }
  return "lathe_api_" + name;
}

Failure LoadLibrary(const Options& options, const lathe_api** api) {
  if (options.library.empty()) {
    if (lathe_linked_api != nullptr) *api = lathe_linked_api();
#ifdef LATHE_STATIC_API
    *api = LATHE_STATIC_API();
#endif
    return *api != nullptr ? Failure() : Failure{"usage", "no library is inside of this program: give --library"};
  }
  // A path without a slash would be searched for in the system's folders.
  const std::string path = options.library.find('/') == std::string::npos ? "./" + options.library : options.library;
  void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    const char* said = dlerror();
    return {"io", std::string("cannot load the library: ") + (said != nullptr ? said : path.c_str())};
  }
  const std::string symbol = options.symbol.empty() ? SymbolOf(options.library) : options.symbol;
  void* function = dlsym(handle, symbol.c_str());
  if (function == nullptr)
    return {"io", "'" + options.library + "' has no function '" + symbol + "': give --symbol lathe_api_<library name>"};
  using GetApi = const lathe_api* (*)();
  *api = reinterpret_cast<GetApi>(function)();
  if (*api == nullptr) return {"io", "'" + symbol + "' gives no interface"};
  if ((*api)->abi_version != LATHE_ABI_VERSION) return {"unsupported", "the library has another binary interface"};
  return {};
}

// Numbers in -1..1 that are the same everywhere; integers get 0 or 1, which are valid indices of most things.
std::vector<char> PseudoRandom(lathe_dtype dtype, size_t bytes) {
  std::vector<char> result(bytes);
  uint32_t state = 12345;
  const size_t size = SizeOf(dtype);
  for (size_t i = 0; i + size <= bytes; i += size) {
    state = state * 1664525u + 1013904223u;
    const float value = static_cast<float>(state >> 8) / 8388608.0f - 1.0f;
    const double wide = value;
    uint32_t bits;
    std::memcpy(&bits, &value, 4);
    // The sign, a small exponent and the top of the mantissa make an f16 below 1.
    const uint16_t half = static_cast<uint16_t>((bits >> 16 & 0x8000) | 0x3000 | (bits >> 13 & 0x3ff));
    const uint16_t brain = static_cast<uint16_t>(bits >> 16);
    if (dtype == LATHE_F32) std::memcpy(&result[i], &value, 4);
    if (dtype == LATHE_F64) std::memcpy(&result[i], &wide, 8);
    if (dtype == LATHE_F16) std::memcpy(&result[i], &half, 2);
    if (dtype == LATHE_BF16) std::memcpy(&result[i], &brain, 2);
    if (dtype >= LATHE_S8) result[i] = static_cast<char>(state >> 31);
  }
  return result;
}

Failure ReadInput(const Options& options, const lathe::Tensor& declared, Array* array) {
  const std::string name = declared.name();
  array->dtype = declared.dtype();
  array->shape = declared.shape();
  if (options.shapes.count(name) != 0) array->shape = options.shapes.at(name);
  const auto file = options.inputs.find(name);
  if (file == options.inputs.end()) return {};
  if (!EndsWith(file->second, ".npy")) {
    const std::string problem = ReadFile(file->second, &array->bytes);
    return problem.empty() ? Failure() : Failure{"io", problem};
  }
  Array read;
  const std::string problem = ReadNpy(file->second, &read);
  if (!problem.empty()) return {"io", problem};
  if (declared.dtype() == LATHE_BF16 && read.dtype == LATHE_F32) {
    read.bytes = NarrowToBf16(read.bytes);
    read.dtype = LATHE_BF16;
  }
  if (read.dtype != declared.dtype())
    return {"invalid_argument", "input '" + name + "' is of type " + NameOf(declared.dtype()) + ", '" + file->second +
                                    "' holds " + NameOf(read.dtype)};
  if (options.shapes.count(name) != 0) read.shape = array->shape;
  *array = std::move(read);
  return {};
}

Failure CheckNames(const Options& options, lathe::Session* session) {
  for (const auto& [name, file] : options.inputs) {
    const auto found = session->Input(name);
    if (!found.ok()) return Refused(found.status());
  }
  for (const auto& [name, shape] : options.shapes) {
    const auto found = session->Input(name);
    if (!found.ok()) return Refused(found.status());
  }
  for (const auto& [name, file] : options.outputs) {
    const auto found = session->Output(name);
    if (!found.ok()) return Refused(found.status());
  }
  return {};
}

Failure FillInputs(const Options& options, lathe::Session* session) {
  std::vector<Array> arrays(session->input_count());
  std::vector<lathe::Dims> shapes;
  bool resize = false;
  for (size_t i = 0; i < arrays.size(); ++i) {
    const auto declared = session->Input(i);
    const Failure failure = ReadInput(options, *declared, &arrays[i]);
    if (!failure.empty()) return failure;
    shapes.push_back(arrays[i].shape);
    resize = resize || arrays[i].shape != declared->shape();
  }
  if (resize) {
    const lathe::Status status = session->Resize(shapes);
    if (!status.ok()) return Refused(status);
  }
  for (size_t i = 0; i < arrays.size(); ++i) {
    const auto tensor = session->Input(i);
    std::vector<char>& bytes = arrays[i].bytes;
    if (options.inputs.count(tensor->name()) == 0) bytes = PseudoRandom(tensor->dtype(), tensor->byte_size());
    if (bytes.size() != tensor->byte_size())
      return {"invalid_argument", std::string("input '") + tensor->name() + "' has " +
                                      std::to_string(tensor->byte_size()) + " bytes, the file has " +
                                      std::to_string(bytes.size())};
    if (!bytes.empty()) std::memcpy(tensor->bytes(), bytes.data(), bytes.size());
  }
  return {};
}

Failure WriteTensor(const lathe::Tensor& tensor, const std::string& path) {
  Array array;
  array.dtype = tensor.dtype();
  array.shape = tensor.shape();
  const char* bytes = static_cast<const char*>(tensor.bytes());
  array.bytes.assign(bytes, bytes + tensor.byte_size());
  if (!EndsWith(path, ".npy")) {
    const std::string problem = WriteFile(path, array.bytes);
    return problem.empty() ? Failure() : Failure{"io", problem};
  }
  if (array.dtype == LATHE_BF16) {
    array.dtype = LATHE_F32;
    array.bytes = WidenBf16(array.bytes);
  }
  const std::string problem = WriteNpy(path, array);
  return problem.empty() ? Failure() : Failure{"io", problem};
}

Failure WriteOutputs(const Options& options, const lathe::Session& session) {
  for (const auto& [name, path] : options.outputs) {
    const Failure failure = WriteTensor(*session.Output(name), path);
    if (!failure.empty()) return failure;
  }
  return {};
}

Failure WriteInnerValues(const Options& options, const lathe::Engine& engine, const lathe::Session& session,
                         Result* result) {
  if (options.values.empty()) return {};
  const auto other = engine.CreateSession();
  if (!other.ok()) return Refused(other.status());
  const std::string problem =
      WriteValues(ComputedValues(session, *other), options.value_names, options.values, &result->values);
  return problem.empty() ? Failure() : Failure{"io", problem};
}

// What the GPU found out, where that is asked for.
Failure WriteDeviceData(const Options& options, const lathe::Engine& engine) {
  const struct {
    uint32_t what;
    const std::string& path;
  } files[] = {{LATHE_DEVICE_DATA_TUNING, options.write_tuning}, {LATHE_DEVICE_DATA_PROGRAMS, options.write_programs}};
  for (const auto& file : files) {
    if (file.path.empty()) continue;
    const auto data = engine.device_data(file.what);
    if (!data.ok()) return Refused(data.status());
    const char* bytes = static_cast<const char*>(data->data);
    const std::string problem = WriteFile(file.path, std::vector<char>(bytes, bytes + data->size));
    if (!problem.empty()) return {"io", problem};
  }
  return {};
}

// What happens now, for whoever watches and for the last words of a crash.
void Stage(const Options& options, const char* what) {
  NowRunning(what, 0, "");
  if (options.trace > 0) std::fprintf(stderr, "lathe_run: %s\n", what);
}

// One run that reports every node when it is done.
lathe::Status TraceRun(lathe::Session* session) {
  session->SetObserver(
      [](void*, const lathe_node_event* event) {
        NowRunning("after node", event->index, event->name);
        const double microseconds = static_cast<double>(event->end_ns - event->start_ns) / 1e3;
        std::fprintf(stderr, "lathe_run: node %u %s (%s, %s) %.1f us\n", event->index, event->name, event->op,
                     event->kernel, microseconds);
      },
      nullptr);
  const lathe::Status status = session->Run();
  session->SetObserver(nullptr, nullptr);
  return status;
}

Failure TimeRuns(const Options& options, lathe::Session* session, Result* result) {
  Timings* timings = &result->timings;
  Stage(options, "running the model");
  lathe::Status status;
  if (options.trace > 1) {
    status = TraceRun(session);
    Stage(options, "running the model again");
  }
  if (status.ok()) status = TimeRounds(session, options.warmup, options.rounds, options.powercap, timings);
  if (status.ok() && options.markers) status = MarkRounds(session, timings);
  return status.ok() ? Failure() : Refused(status);
}

void Describe(Json* json, const lathe::Tensor& tensor, const std::map<std::string, std::string>& files) {
  json->Open('{').Key("name").Text(tensor.name()).Key("dtype").Text(NameOf(tensor.dtype()));
  json->Key("format").Text(tensor.format()).Key("shape").Open('[');
  for (const int64_t size : tensor.shape()) json->Number(size);
  json->Close(']').Key("bytes").Number(static_cast<int64_t>(tensor.byte_size()));
  if (files.count(tensor.name()) != 0) json->Key("file").Text(files.at(tensor.name()));
  json->Close('}');
}

void DescribeLibrary(Json* json, const lathe_api* api) {
  json->Key("library").Text(api->library).Key("version").Text(api->version).Key("kernels").Open('[');
  for (size_t i = 0; i < api->kernel_count(); ++i) json->Text(api->kernel_name(i));
  json->Close(']').Key("models").Open('[');
  for (size_t i = 0; i < api->model_count(); ++i) json->Text(api->model_at(i)->name);
  json->Close(']');
}

void DescribeTimes(Json* json, const Options& options, const Result& result) {
  json->Key("create_ns").Number(result.create).Key("timings").Open('{');
  json->Key("rounds").Number(options.rounds).Key("warmup").Number(options.warmup);
  DescribeTimings(json, result.timings);
  json->Close('}');
  if (!options.profile && !options.markers) return;
  json->Key("nodes").Open('[');
  DescribeNodes(json, result.timings);
  json->Close(']').Key("threads_of_loops").Open('[');
  DescribeThreads(json, result.timings.threads);
  json->Close(']');
}

// The most memory that this program had, in bytes; 0 where the system does not tell. What getrusage tells would count
// that of the program which started this one.
int64_t PeakOfProcess() {
  std::FILE* stream = std::fopen("/proc/self/status", "r");
  if (stream == nullptr) return 0;
  char line[256];
  long long kibibytes = 0;
  while (std::fgets(line, sizeof(line), stream) != nullptr)
    if (std::sscanf(line, "VmHWM: %lld kB", &kibibytes) == 1) break;
  std::fclose(stream);
  return kibibytes * 1024;
}

std::string DescribeRun(const Options& options, const Result& result, lathe::Session* session) {
  Json json;
  json.Open('{');
  DescribeLibrary(&json, result.api);
  json.Key("threads").Number(options.threads);
  DescribeTimes(&json, options, result);
  const lathe_memory_info memory = session->memory_info();
  json.Key("memory").Open('{').Key("weights_mapped").Number(static_cast<int64_t>(memory.weights_mapped));
  json.Key("weights_allocated").Number(static_cast<int64_t>(memory.weights_allocated));
  json.Key("arena").Number(static_cast<int64_t>(memory.arena));
  json.Key("scratch").Number(static_cast<int64_t>(memory.scratch)).Close('}');
  json.Key("process_peak").Number(result.process_peak);
  if (result.device.has_parts()) DescribeDevice(&json, result.device);
  DescribeAffinity(&json, result.affinity);
  if (!options.values.empty()) DescribeValues(&json, result.values);
  json.Key("inputs").Open('[');
  for (size_t i = 0; i < session->input_count(); ++i) Describe(&json, *session->Input(i), options.inputs);
  json.Close(']').Key("outputs").Open('[');
  for (size_t i = 0; i < session->output_count(); ++i) Describe(&json, *session->Output(i), options.outputs);
  json.Close(']').Close('}');
  return json.text() + "\n";
}

Failure WriteJson(const Options& options, const std::string& text) {
  if (options.json == "-") return std::fputs(text.c_str(), stdout) < 0 ? Failure{"io", "cannot write"} : Failure();
  const std::string problem = WriteFile(options.json, std::vector<char>(text.begin(), text.end()));
  return problem.empty() ? Failure() : Failure{"io", problem};
}

lathe::EngineOptions EngineOptionsOf(const Options& options) {
  lathe::EngineOptions engine_options;
  engine_options.threads = options.threads;
  engine_options.model_name = options.model_name;
  engine_options.model_path = options.model;
  engine_options.data_path = options.data;
  engine_options.isa_limit = options.isa;
  engine_options.device = options.device;
  return engine_options;
}

// What the GPU of an engine has found out, or nothing.
std::vector<char> FoundOut(const lathe::Engine& engine, uint32_t what) {
  const auto data = engine.device_data(what);
  if (!data.ok() || (*data).size == 0) return {};
  const char* bytes = static_cast<const char*>((*data).data);
  return std::vector<char>(bytes, bytes + (*data).size);
}

// As many runs again, node by node. On a GPU in an engine of its own, with what the first one has found out: a queue
// that measures is slower in all runs.
Failure ProfileRuns(const Options& options, const lathe::Engine& first, lathe::Session* session, Result* result) {
  if (!result->device.on_device || options.device.profile) {
    const lathe::Status status = ObserveRounds(first, session, options.rounds, &result->timings);
    return status.ok() ? Failure() : Refused(status);
  }
  Stage(options, "preparing the model again, for a GPU that measures");
  lathe::EngineOptions engine_options = EngineOptionsOf(options);
  const std::vector<char> programs = FoundOut(first, LATHE_DEVICE_DATA_PROGRAMS);
  const std::vector<char> tuning = FoundOut(first, LATHE_DEVICE_DATA_TUNING);
  engine_options.device.profile = true;
  engine_options.device.rebuild_programs = false;
  engine_options.device.binary = {programs.data(), programs.size()};
  engine_options.device.tuning = {tuning.data(), tuning.size()};
  engine_options.device.tuning_milliseconds = 0;
  auto engine = lathe::Engine::Create(result->api, engine_options);
  if (!engine.ok()) return Refused(engine.status());
  auto measured = engine->CreateSession();
  if (!measured.ok()) return Refused(measured.status());
  const Failure failure = FillInputs(options, &*measured);
  if (!failure.empty()) return failure;
  lathe::Status status = measured->Run();
  if (status.ok()) status = ObserveRounds(*engine, &*measured, options.rounds, &result->timings);
  return status.ok() ? Failure() : Refused(status);
}

Failure RunModel(const Options& options, Result* result) {
  const lathe::EngineOptions engine_options = EngineOptionsOf(options);
  result->affinity = KeepOn(options.affinity, options.threads, options.cpus);
  Stage(options, "preparing the model");
  const Nanoseconds start = Now();
  auto engine = lathe::Engine::Create(result->api, engine_options);
  if (!engine.ok()) return Refused(engine.status());
  auto session = engine->CreateSession({/*keep_all=*/!options.values.empty()});
  if (!session.ok()) return Refused(session.status());
  result->create = Now() - start;
  Stage(options, "reading the inputs");
  Failure failure = CheckNames(options, &*session);
  if (failure.empty()) failure = FillInputs(options, &*session);
  if (failure.empty()) failure = TimeRuns(options, &*session, result);
  result->device = engine->device_info();
  result->process_peak = PeakOfProcess();
  if (failure.empty() && options.profile) failure = ProfileRuns(options, *engine, &*session, result);
  if (failure.empty()) failure = WriteOutputs(options, *session);
  if (failure.empty()) failure = WriteInnerValues(options, *engine, *session, result);
  if (failure.empty()) failure = WriteDeviceData(options, *engine);
  if (!failure.empty()) return failure;
  if (!options.json.empty()) return WriteJson(options, DescribeRun(options, *result, &*session));
  if (result->device.has_parts()) std::printf("%s\n", DeviceLine(result->device).c_str());
  const std::vector<Nanoseconds>& rounds = result->timings.rounds;
  if (!rounds.empty())
    std::printf("%zu runs, median %.3f ms\n", rounds.size(), static_cast<double>(Median(rounds)) / 1e6);
  return {};
}

Failure Run(const Options& options, Result* result) {
  if (options.peak) {
    const std::string text = DescribePeak(options.threads);
    if (!options.json.empty()) return WriteJson(options, text);
    std::fputs(text.c_str(), stdout);
    return {};
  }
  const Failure failure = LoadLibrary(options, &result->api);
  if (!failure.empty()) return failure;
  if (options.list) {
    Json json;
    json.Open('{');
    DescribeLibrary(&json, result->api);
    json.Close('}');
    const Options out = options;
    if (!options.json.empty()) return WriteJson(out, json.text() + "\n");
    std::printf("%s\n", json.text().c_str());
    return {};
  }
  return RunModel(options, result);
}

void Report(const Options& options, const Failure& failure) {
  std::fprintf(stderr, "lathe_run: error: %s\n", failure.message.c_str());
  if (options.json.empty()) return;
  Json json;
  json.Open('{').Key("error").Open('{').Key("code").Text(failure.code).Key("message").Text(failure.message);
  json.Close('}').Close('}');
  WriteJson(options, json.text() + "\n");
}

}  // namespace

int Main(int argc, char** argv) {
  TellOfCrashes();
  Options options;
  const std::string problem = ParseOptions(argc, argv, &options);
  if (!problem.empty()) {
    std::fprintf(stderr, "lathe_run: error: %s\n(lathe_run --help lists the options)\n", problem.c_str());
    return 2;
  }
  if (options.help) {
    std::fputs(kUsage, stdout);
    return 0;
  }
  Result result;
  const Failure failure = Run(options, &result);
  if (failure.empty()) return 0;
  Report(options, failure);
  return failure.code == "usage" ? 2 : 1;
}

}  // namespace lathe_run

int main(int argc, char** argv) { return lathe_run::Main(argc, argv); }
