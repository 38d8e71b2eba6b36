// The command line of lathe_run.
#ifndef LATHE_TOOLS_OPTIONS_H_
#define LATHE_TOOLS_OPTIONS_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "lathe/engine.h"

namespace lathe_run {

struct Options {
  std::string library;
  std::string symbol;
  std::string model;
  std::string data;
  std::string model_name;
  std::string isa;
  std::map<std::string, std::string> inputs;   // name -> file
  std::map<std::string, std::string> outputs;  // name -> file
  std::map<std::string, std::vector<int64_t>> shapes;
  int threads = 0;
  int rounds = 1;
  int warmup = 0;
  std::string json;
  std::string values;                    // the file for values that the run computed
  std::vector<std::string> value_names;  // which of them; empty: all
  bool list = false;
  bool profile = false;
  bool markers = false;
  bool peak = false;
  std::string powercap = "/sys/class/powercap";
  int affinity = 0;
  std::string cpus = "/sys/devices/system/cpu";
  int trace = 0;
  lathe::DeviceOptions device;
  int tune_milliseconds = 0;
  std::string write_tuning;
  std::string write_programs;
  bool help = false;
};

extern const char kUsage[];

// What is wrong with the command line, or nothing.
std::string ParseOptions(int argc, char** argv, Options* options);

}  // namespace lathe_run

#endif  // LATHE_TOOLS_OPTIONS_H_
