#include "native/tools/options.h"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdlib>

#include "native/tools/device.h"

namespace lathe_run {

const char kUsage[] =
    "lathe_run: runs a model of a tailored library\n"
    "\n"
    "  --library FILE          the library; not needed where one is linked into this program\n"
    "  --symbol NAME           its function, where the file is not called lib<name>.so: lathe_api_<name>\n"
    "  --model FILE            the model (.pb); without it the one inside of the library\n"
    "  --data FILE             the weights of the model (.data)\n"
    "  --model-name NAME       which of the models inside of the library\n"
    "  --input NAME=FILE       an input, .npy or raw bytes; inputs without one get fixed pseudo-random numbers\n"
    "  --shape NAME=1,2,3      the shape of an input; a .npy file brings its own\n"
    "  --output NAME=FILE      where to write an output, .npy or raw bytes by the ending\n"
    "  --isa WORD              leave out kernels for better instruction sets, such as avx2 or portable\n"
    "  --threads N             0 or less: one per core (default)\n"
    "  --rounds N, --warmup N  runs that are timed (1), runs before (0)\n"
    "  --json FILE             the result as JSON; - for standard output\n"
    "  --values FILE           keep all inner values and write them: .npy arrays one behind the other\n"
    "  --value NAME            with --values only this one; repeatable\n"
    "  --affinity N            cores: 0 all, 1 big, 2 little, 3 as many of the fastest as threads, 4 of the slowest\n"
    "  --cpus FOLDER           where Linux tells of cores: /sys/devices/system/cpu\n"
    "  --trace N               tell on stderr what happens: 1 stages, 2 each node of one run before the others\n"
    "  --profile               as many runs again, timed node by node\n"
    "  --markers               one run between system calls that qemu/count_plugin.c knows, and one with them per "
    "node\n"
    "  --device any|cpu|gpu|dsp  what runs parts for a device: it, where there is one (default), the CPU, nothing "
    "else\n"
    "  --gpu-perf-hint N       how fast a GPU shall run: 0 as it likes, 1 low, 2 normal, 3 high\n"
    "  --gpu-priority-hint N   whether it does this before other work: 0 to 3 in the same way\n"
    "  --gpu-check             fail where a kernel of a GPU reads or writes outside of a tensor; slow\n"
    "  --gpu-profile           have the GPU measure each kernel in all runs; --profile does that for runs of its own\n"
    "  --opencl-storage FOLDER an existing one, where programs for a GPU are kept for the next start\n"
    "  --opencl-binary FILE    programs that were built elsewhere; repeatable\n"
    "  --opencl-tuning FILE    what tuning found before\n"
    "  --opencl-tune N         tune what is not tuned, for so many milliseconds\n"
    "  --write-tuning FILE     where to write what tuning found; the file is empty where that is nothing\n"
    "  --write-programs FILE   where to write the programs of the GPU, in the same way\n"
    "  --opencl-rebuild        use no program that was built before\n"
    "  --powercap FOLDER       where Linux counts energy: /sys/class/powercap\n"
    "  --peak                  measure what the processor can do at most, and stop\n"
    "  --list                  tell what the library holds, and stop\n";

namespace {

std::string ParseNumber(const std::string& text, int* number) {
  char* end = nullptr;
  errno = 0;
  const long value = std::strtol(text.c_str(), &end, 10);
  if (text.empty() || *end != 0 || errno != 0 || value > INT_MAX || value < INT_MIN)
    return "'" + text + "' is no number";
  *number = static_cast<int>(value);
  return "";
}

std::string ParseShape(const std::string& text, std::vector<int64_t>* shape) {
  shape->clear();
  size_t start = 0;
  while (!text.empty() && start <= text.size()) {
    const size_t comma = std::min(text.find(',', start), text.size());
    int size = 0;
    const std::string problem = ParseNumber(text.substr(start, comma - start), &size);
    if (!problem.empty()) return problem;
    shape->push_back(size);
    start = comma + 1;
  }
  return "";
}

std::string ParseHint(const std::string& text, lathe::DeviceHint* hint) {
  if (text.size() != 1 || text[0] < '0' || text[0] > '3') return "'" + text + "' is not from 0 to 3";
  *hint = static_cast<lathe::DeviceHint>(text[0] - '0');
  return "";
}

// The options of GPUs; `taken` says whether it was one.
std::string TakeDevice(const std::string& option, const std::string& value, lathe::DeviceOptions* device, bool* taken) {
  *taken = true;
  if (option == "--gpu-perf-hint") return ParseHint(value, &device->performance);
  if (option == "--gpu-priority-hint") return ParseHint(value, &device->priority);
  if (option == "--device")
    return ReadDeviceKind(value, &device->kind) ? "" : "'" + value + "' is none of any, cpu, gpu, dsp";
  if (option == "--opencl-storage") {
    device->storage_path = value;
  } else if (option == "--opencl-tuning") {
    device->tuning_path = value;
  } else if (option == "--opencl-binary") {
    device->binary_paths.push_back(value);
  } else {
    *taken = false;
  }
  return "";
}

// Splits NAME=REST at the first equals sign.
std::string Split(const std::string& text, std::string* name, std::string* rest) {
  const size_t at = text.find('=');
  if (at == std::string::npos || at == 0) return "'" + text + "' is not of the form NAME=...";
  *name = text.substr(0, at);
  *rest = text.substr(at + 1);
  return "";
}

std::string Take(const std::string& option, const std::string& value, Options* options) {
  const std::map<std::string, std::string*> texts = {{"--library", &options->library},
                                                     {"--symbol", &options->symbol},
                                                     {"--model", &options->model},
                                                     {"--data", &options->data},
                                                     {"--model-name", &options->model_name},
                                                     {"--json", &options->json},
                                                     {"--values", &options->values},
                                                     {"--isa", &options->isa},
                                                     {"--powercap", &options->powercap},
                                                     {"--cpus", &options->cpus},
                                                     {"--write-tuning", &options->write_tuning},
                                                     {"--write-programs", &options->write_programs}};
  const std::map<std::string, int*> numbers = {
      {"--threads", &options->threads}, {"--rounds", &options->rounds},
      {"--warmup", &options->warmup},   {"--affinity", &options->affinity},
      {"--trace", &options->trace},     {"--opencl-tune", &options->tune_milliseconds}};
  if (texts.count(option) != 0) {
    *texts.at(option) = value;
    return "";
  }
  if (numbers.count(option) != 0) return ParseNumber(value, numbers.at(option));
  if (option == "--value") {
    options->value_names.push_back(value);
    return "";
  }
  bool taken = false;
  std::string problem = TakeDevice(option, value, &options->device, &taken);
  if (taken) return problem;
  std::string name, rest;
  problem = Split(value, &name, &rest);
  if (!problem.empty()) return problem;
  if (option == "--shape") return ParseShape(rest, &options->shapes[name]);
  (option == "--input" ? options->inputs : options->outputs)[name] = rest;
  return "";
}

}  // namespace

std::string ParseOptions(int argc, char** argv, Options* options) {
  const std::map<std::string, bool*> flags = {{"--list", &options->list},
                                              {"--profile", &options->profile},
                                              {"--markers", &options->markers},
                                              {"--peak", &options->peak},
                                              {"--help", &options->help},
                                              {"-h", &options->help},
                                              {"--gpu-check", &options->device.check},
                                              {"--gpu-profile", &options->device.profile},
                                              {"--opencl-rebuild", &options->device.rebuild_programs}};
  static const char* const kWithValue[] = {"--library",
                                           "--symbol",
                                           "--model",
                                           "--data",
                                           "--model-name",
                                           "--json",
                                           "--values",
                                           "--value",
                                           "--threads",
                                           "--rounds",
                                           "--warmup",
                                           "--input",
                                           "--output",
                                           "--shape",
                                           "--isa",
                                           "--powercap",
                                           "--affinity",
                                           "--cpus",
                                           "--trace",
                                           "--device",
                                           "--gpu-perf-hint",
                                           "--gpu-priority-hint",
                                           "--opencl-storage",
                                           "--opencl-binary",
                                           "--opencl-tuning",
                                           "--opencl-tune",
                                           "--write-tuning",
                                           "--write-programs"};
  for (int i = 1; i < argc; ++i) {
    const std::string option = argv[i];
    if (flags.count(option) != 0) {
      *flags.at(option) = true;
      continue;
    }
    bool known = false;
    for (const char* name : kWithValue) known = known || option == name;
    if (!known) return "there is no option '" + option + "'";
    if (++i == argc) return "option '" + option + "' needs a value";
    const std::string problem = Take(option, argv[i], options);
    if (!problem.empty()) return option + ": " + problem;
  }
  if (options->rounds < 0 || options->warmup < 0) return "--rounds and --warmup are not negative";
  if (options->tune_milliseconds < 0) return "--opencl-tune is not negative";
  options->device.tuning_milliseconds = static_cast<uint32_t>(options->tune_milliseconds);
  if (options->affinity < 0 || options->affinity > 4) return "--affinity is from 0 to 4";
  if (options->threads < 0) options->threads = 0;
  return "";
}

}  // namespace lathe_run
