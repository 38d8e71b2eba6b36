#include "native/tools/options.h"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdlib>

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
    "  --keep-all              keep all inner values; with --dump-dir write them too\n"
    "  --dump-dir DIR          write every value that outlives the run as DIR/<name>.npy\n"
    "  --profile               as many runs again, timed node by node: the least time of each\n"
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

// Splits NAME=REST at the first equals sign.
std::string Split(const std::string& text, std::string* name, std::string* rest) {
  const size_t at = text.find('=');
  if (at == std::string::npos || at == 0) return "'" + text + "' is not of the form NAME=...";
  *name = text.substr(0, at);
  *rest = text.substr(at + 1);
  return "";
}

std::string Take(const std::string& option, const std::string& value, Options* options) {
  const std::map<std::string, std::string*> texts = {
      {"--library", &options->library},       {"--symbol", &options->symbol},
      {"--model", &options->model},           {"--data", &options->data},
      {"--model-name", &options->model_name}, {"--json", &options->json},
      {"--dump-dir", &options->dump_dir},     {"--isa", &options->isa}};
  const std::map<std::string, int*> numbers = {
      {"--threads", &options->threads}, {"--rounds", &options->rounds}, {"--warmup", &options->warmup}};
  if (texts.count(option) != 0) {
    *texts.at(option) = value;
    return "";
  }
  if (numbers.count(option) != 0) return ParseNumber(value, numbers.at(option));
  std::string name, rest;
  const std::string problem = Split(value, &name, &rest);
  if (!problem.empty()) return problem;
  if (option == "--shape") return ParseShape(rest, &options->shapes[name]);
  (option == "--input" ? options->inputs : options->outputs)[name] = rest;
  return "";
}

}  // namespace

std::string ParseOptions(int argc, char** argv, Options* options) {
  const std::map<std::string, bool*> flags = {{"--keep-all", &options->keep_all},
                                              {"--list", &options->list},
                                              {"--profile", &options->profile},
                                              {"--help", &options->help},
                                              {"-h", &options->help}};
  static const char* const kWithValue[] = {"--library", "--symbol",   "--model",   "--data",   "--model-name",
                                           "--json",    "--dump-dir", "--threads", "--rounds", "--warmup",
                                           "--input",   "--output",   "--shape",   "--isa"};
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
  if (options->threads < 0) options->threads = 0;
  return "";
}

}  // namespace lathe_run
