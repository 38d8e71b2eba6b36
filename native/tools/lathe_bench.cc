// Times single operators: one kernel per line, on the cases of a file that buildtool/benchmark writes. All numbers in
// the file are little-endian; a blob is u64 size and bytes.
//
//   "LATHEBENCH"                                           10 bytes
//   u32 count, then per case: blob name, u64 multiply-accumulates, blob model, blob data
//
// The kernels are those of a library that is loaded by path, or of the one inside of this program, which then holds
// every kernel of its ABI. A case whose kernel is missing, or whose kernel this processor cannot run, is reported on
// standard error and left out.
#include <dlfcn.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <regex>
#include <string>
#include <vector>

#include "lathe/c_api.h"
#include "native/tools/json.h"

extern "C" __attribute__((weak)) const lathe_api* lathe_api_lathe_full(void);

namespace lathe_bench {
namespace {

const char kUsage[] =
    "usage: lathe_bench CASES [--library FILE --symbol NAME] [--filter REGEX] [--threads N] [--min-time SECONDS]\n"
    "                   [--json FILE] [--fastest] [--list] [--markers]\n"
    "  --library   the library with the kernels, and --symbol its function; default: the one inside of this program\n"
    "  --filter    only cases whose name has a part that matches\n"
    "  --threads   default 1; 0: one per core\n"
    "  --min-time  how long each case runs at least, default 0.2\n"
    "  --json      write the numbers to a file too (- for standard output, then without the table)\n"
    "  --fastest   of successive cases that differ in the kernel only, run the first that the processor can\n"
    "  --list      print the names of the cases that would run\n"
    "  --markers   run each case once, warm, between two system calls that qemu/count_plugin.c knows\n";

struct Options {
  std::string cases;
  std::string library;
  std::string symbol;
  std::string filter;
  int threads = 1;
  double min_time = 0.2;
  std::string json;
  bool fastest = false;
  bool list = false;
  bool markers = false;
};

struct Case {
  std::string name;
  uint64_t macs = 0;
  std::string model;
  std::string data;
};

struct Measurement {
  std::string name;
  uint64_t macs = 0;
  size_t bytes = 0;  // of the inputs that are no constants
  std::vector<int64_t> times;
};

// Bytes at an address that is a multiple of 64, as the core wants its weights.
class Aligned {
 public:
  explicit Aligned(const std::string& bytes) : size_(bytes.size()) {
    if (posix_memalign(&data_, 64, size_ + 1) != 0) abort();
    std::memcpy(data_, bytes.data(), size_);
  }
  ~Aligned() { free(data_); }
  Aligned(const Aligned&) = delete;
  Aligned& operator=(const Aligned&) = delete;
  lathe_bytes bytes() const { return {data_, size_}; }

 private:
  void* data_ = nullptr;
  size_t size_;
};

class Reader {
 public:
  explicit Reader(std::ifstream& file)
      : bytes_(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()) {}

  std::string Take(uint64_t size) {
    if (size > bytes_.size() - at_) ok_ = false;
    if (!ok_) return "";
    at_ += size;
    return bytes_.substr(at_ - size, size);
  }
  template <typename T>
  T Number() {
    T value = {};
    const std::string raw = Take(sizeof(T));
    if (ok_) std::memcpy(&value, raw.data(), sizeof(T));
    return value;
  }
  std::string Blob() { return Take(Number<uint64_t>()); }
  bool ok() const { return ok_; }

 private:
  std::string bytes_;
  size_t at_ = 0;
  bool ok_ = true;
};

bool ReadCases(const std::string& path, std::vector<Case>* cases) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return false;
  Reader reader(file);
  if (reader.Take(10) != "LATHEBENCH") return false;
  const uint32_t count = reader.Number<uint32_t>();
  for (uint32_t i = 0; i < count && reader.ok(); ++i) {
    Case item;
    item.name = reader.Blob();
    item.macs = reader.Number<uint64_t>();
    item.model = reader.Blob();
    item.data = reader.Blob();
    cases->push_back(std::move(item));
  }
  return reader.ok();
}

// A session of one case, with inputs.
class Stand {
 public:
  Stand(const lathe_api* api, const Case& item, int threads) : api_(api), model_(item.model), data_(item.data) {
    lathe_engine_options options = {};
    options.struct_size = sizeof(options);
    options.num_threads = threads;
    options.model = model_.bytes();
    options.data = data_.bytes();
    if (api_->engine_create(&options, &engine_, &error_) != LATHE_OK) return;
    if (api_->session_create(engine_, nullptr, &session_, &error_) != LATHE_OK) return;
    for (size_t i = 0; i < api_->input_count(engine_); ++i)
      if (!Fill(i)) return;
    ready_ = Run();
  }
  ~Stand() {
    if (session_ != nullptr) api_->session_destroy(session_);
    if (engine_ != nullptr) api_->engine_destroy(engine_);
  }
  Stand(const Stand&) = delete;
  Stand& operator=(const Stand&) = delete;

  bool Run() { return api_->run(session_, &error_) == LATHE_OK; }
  bool ready() const { return ready_; }
  const char* problem() const { return error_.message; }
  size_t input_bytes() const { return input_bytes_; }

 private:
  // Floats in -1..1; other types get zeros, which are valid indices of most things.
  bool Fill(size_t index) {
    lathe_tensor_info info = {};
    info.struct_size = sizeof(info);
    void* data = nullptr;
    size_t bytes = 0;
    if (api_->input_info(session_, index, &info, &error_) != LATHE_OK) return false;
    if (api_->input_data(session_, index, &data, &bytes, &error_) != LATHE_OK) return false;
    std::memset(data, 0, bytes);
    uint32_t state = 12345;
    for (size_t i = 0; info.dtype == LATHE_F32 && i < bytes / 4; ++i) {
      state = state * 1664525u + 1013904223u;
      static_cast<float*>(data)[i] = static_cast<float>(state >> 8) / 8388608.0f - 1.0f;
    }
    input_bytes_ += bytes;
    return true;
  }

  const lathe_api* api_;
  Aligned model_, data_;
  lathe_error error_ = {};
  lathe_engine* engine_ = nullptr;
  lathe_session* session_ = nullptr;
  size_t input_bytes_ = 0;
  bool ready_ = false;
};

int64_t Now() {
  timespec time = {};
  if (clock_gettime(CLOCK_MONOTONIC, &time) != 0) return 0;
  return int64_t{time.tv_sec} * 1000000000 + time.tv_nsec;
}

void Marker(long number) { syscall(SYS_getpgid, 0x7A0000 + number); }

bool Measure(Stand* stand, const Options& options, Measurement* result) {
  if (!stand->Run()) return false;  // the second one: memory has been touched by now
  if (options.markers) {
    Marker(0);
    const bool ok = stand->Run();
    Marker(1);
    return ok;
  }
  const int64_t end = Now() + static_cast<int64_t>(options.min_time * 1e9);
  for (int64_t start = Now(), now = 0; now < end || result->times.size() < 3; start = now) {
    if (!stand->Run()) return false;
    now = Now();
    result->times.push_back(now - start);
  }
  std::sort(result->times.begin(), result->times.end());
  return true;
}

void PrintLine(const Measurement& item) {
  const double median = static_cast<double>(item.times[item.times.size() / 2]);
  const double best = static_cast<double>(item.times.front());
  std::printf("%-88s %12.1f %12.1f %9zu %10.0f", item.name.c_str(), median / 1e3, best / 1e3, item.times.size(),
              static_cast<double>(item.bytes) / median * 1e3);
  if (item.macs != 0) std::printf(" %9.2f", static_cast<double>(item.macs) / median);
  std::printf("\n");
  std::fflush(stdout);
}

std::string AsJson(const std::vector<Measurement>& all) {
  lathe_run::Json json;
  json.Open('{').Key("results").Open('[');
  for (const Measurement& item : all) {
    json.Open('{').Key("name").Text(item.name).Key("macs").Number(static_cast<int64_t>(item.macs));
    json.Key("input_bytes").Number(static_cast<int64_t>(item.bytes));
    if (!item.times.empty()) {
      json.Key("median_ns").Number(item.times[item.times.size() / 2]).Key("min_ns").Number(item.times.front());
      json.Key("iterations").Number(static_cast<int64_t>(item.times.size()));
    }
    json.Close('}');
  }
  json.Close(']').Close('}');
  return json.text() + "\n";
}

bool ParseOptions(int argc, char** argv, Options* options) {
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    const bool has_value = i + 1 < argc;
    if (word == "--list") {
      options->list = true;
    } else if (word == "--fastest") {
      options->fastest = true;
    } else if (word == "--markers") {
      options->markers = true;
    } else if (word == "--library" && has_value) {
      options->library = argv[++i];
    } else if (word == "--symbol" && has_value) {
      options->symbol = argv[++i];
    } else if (word == "--filter" && has_value) {
      options->filter = argv[++i];
    } else if (word == "--threads" && has_value) {
      options->threads = std::atoi(argv[++i]);
    } else if (word == "--min-time" && has_value) {
      options->min_time = std::atof(argv[++i]);
    } else if (word == "--json" && has_value) {
      options->json = argv[++i];
    } else if (word[0] != '-' && options->cases.empty()) {
      options->cases = word;
    } else {
      return false;
    }
  }
  return !options->cases.empty() && options->threads >= 0;
}

bool WriteJson(const std::string& path, const std::string& text) {
  if (path == "-") return std::fputs(text.c_str(), stdout) >= 0;
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  return !file.fail();
}

// The library that is asked for, or none, with the reason in `problem`.
const lathe_api* LoadLibrary(const Options& options, std::string* problem) {
  if (options.library.empty()) {
    if (lathe_api_lathe_full != nullptr) return lathe_api_lathe_full();
    *problem = "no library is inside of this program: give --library and --symbol";
    return nullptr;
  }
  void* handle = dlopen(options.library.c_str(), RTLD_NOW | RTLD_LOCAL);
  void* function = handle != nullptr ? dlsym(handle, options.symbol.c_str()) : nullptr;
  if (function == nullptr) {
    const char* said = dlerror();
    *problem = said != nullptr ? said : "the library has no such function";
    return nullptr;
  }
  using GetApi = const lathe_api* (*)();
  const lathe_api* api = reinterpret_cast<GetApi>(function)();
  if (api != nullptr && api->abi_version == LATHE_ABI_VERSION) return api;
  *problem = "the library has another binary interface";
  return nullptr;
}

// The name of a case without its last word, which is the kernel.
std::string OperatorOf(const Case& item) { return item.name.substr(0, item.name.rfind('/')); }

int RunAll(const lathe_api* api, const std::vector<Case>& cases, const Options& options) {
  const bool table = options.json != "-" && !options.markers;
  if (table && !options.list)
    std::printf("%-88s %12s %12s %9s %10s %9s\n", "case", "median us", "min us", "runs", "input MB/s", "GMAC/s");
  std::vector<Measurement> all;
  std::string measured;
  for (const Case& item : cases) {
    if (options.fastest && OperatorOf(item) == measured) continue;
    if (options.list) {
      std::printf("%s\n", item.name.c_str());
      continue;
    }
    Stand stand(api, item, options.threads);
    Measurement result = {item.name, item.macs, stand.input_bytes(), {}};
    if (!stand.ready() || !Measure(&stand, options, &result)) {
      std::fprintf(stderr, "%s was left out: %s\n", item.name.c_str(), stand.problem());
      continue;
    }
    measured = OperatorOf(item);
    if (table) PrintLine(result);
    all.push_back(std::move(result));
  }
  if (options.json.empty() || WriteJson(options.json, AsJson(all))) return 0;
  std::fprintf(stderr, "lathe_bench: error: '%s' cannot be written\n", options.json.c_str());
  return 1;
}

}  // namespace

int Main(int argc, char** argv) {
  Options options;
  if (!ParseOptions(argc, argv, &options)) {
    std::fputs(kUsage, stderr);
    return 2;
  }
  std::vector<Case> cases;
  if (!ReadCases(options.cases, &cases)) {
    std::fprintf(stderr, "lathe_bench: error: '%s' is not a file of cases\n", options.cases.c_str());
    return 1;
  }
  if (!options.filter.empty()) {
    std::regex filter;
    try {
      filter = options.filter;
    } catch (const std::regex_error& problem) {
      std::fprintf(stderr, "lathe_bench: error: '%s' is no regular expression: %s\n", options.filter.c_str(),
                   problem.what());
      return 2;
    }
    const auto misses = [&](const Case& item) { return !std::regex_search(item.name, filter); };
    cases.erase(std::remove_if(cases.begin(), cases.end(), misses), cases.end());
  }
  std::string problem;
  const lathe_api* api = LoadLibrary(options, &problem);
  if (api != nullptr) return RunAll(api, cases, options);
  std::fprintf(stderr, "lathe_bench: error: %s\n", problem.c_str());
  return 1;
}

}  // namespace lathe_bench

int main(int argc, char** argv) { return lathe_bench::Main(argc, argv); }
