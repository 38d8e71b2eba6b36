// The cores of the machine: how fast they are, and which of them a policy means.
#ifndef MACE_FACE_CORES_H_
#define MACE_FACE_CORES_H_

#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#if defined(__linux__)
#include <sched.h>
#include <unistd.h>
#endif

#include "mace/face/interface.h"

namespace mace {
namespace face {

// In kHz, by number of the core; empty where the system does not tell.
inline std::vector<float> Frequencies() {
  std::vector<float> found;
#if defined(__linux__)
  const long count = sysconf(_SC_NPROCESSORS_CONF);
  for (long core = 0; core < count; ++core) {
    const std::string name = "/sys/devices/system/cpu/cpu" + std::to_string(core) + "/cpufreq/cpuinfo_max_freq";
    std::FILE* file = std::fopen(name.c_str(), "r");
    if (file == nullptr) return std::vector<float>();
    float frequency = 0;
    const bool read = std::fscanf(file, "%f", &frequency) == 1;
    std::fclose(file);
    if (!read) return std::vector<float>();
    found.push_back(frequency);
  }
#endif
  return found;
}

inline int CoreCount() {
#if defined(__linux__)
  const long count = sysconf(_SC_NPROCESSORS_ONLN);
  if (count > 0) return static_cast<int>(count);
#endif
  return 1;
}

// The cores that the threads of an engine may run on; empty for all of them.
inline std::vector<size_t> CoresOf(CPUAffinityPolicy policy, int threads, const std::vector<float>& frequencies) {
  std::vector<size_t> cores;
  if (policy == AFFINITY_NONE || frequencies.empty()) return cores;
  const auto range = std::minmax_element(frequencies.begin(), frequencies.end());
  const float low = *range.first, high = *range.second;
  if (low == high) return cores;
  if (policy == AFFINITY_BIG_ONLY || policy == AFFINITY_LITTLE_ONLY) {
    for (size_t core = 0; core < frequencies.size(); ++core) {
      if (frequencies[core] == (policy == AFFINITY_BIG_ONLY ? high : low)) cores.push_back(core);
    }
    return cores;
  }
  for (size_t core = 0; core < frequencies.size(); ++core) cores.push_back(core);
  const bool fast = policy == AFFINITY_HIGH_PERFORMANCE;
  std::sort(cores.begin(), cores.end(), [&](size_t a, size_t b) {
    if (frequencies[a] == frequencies[b]) return a < b;
    return fast ? frequencies[a] > frequencies[b] : frequencies[a] < frequencies[b];
  });
  if (threads > 0 && static_cast<size_t>(threads) < cores.size()) cores.resize(static_cast<size_t>(threads));
  return cores;
}

// As long as it lives, the calling thread, and with it the threads that it starts, stay on these cores.
class OnCores {
 public:
  explicit OnCores(const std::vector<size_t>& cores) {
#if defined(__linux__)
    if (cores.empty() || sched_getaffinity(0, sizeof(before_), &before_) != 0) return;
    cpu_set_t wanted;
    CPU_ZERO(&wanted);
    for (const size_t core : cores) {
      if (core < CPU_SETSIZE && CPU_ISSET(core, &before_)) CPU_SET(core, &wanted);
    }
    moved_ = sched_setaffinity(0, sizeof(wanted), &wanted) == 0;
#endif
  }
  OnCores(const OnCores&) = delete;
  OnCores& operator=(const OnCores&) = delete;
  ~OnCores() {
#if defined(__linux__)
    if (moved_) sched_setaffinity(0, sizeof(before_), &before_);
#endif
  }

 private:
#if defined(__linux__)
  cpu_set_t before_;
  bool moved_ = false;
#endif
};

}  // namespace face
}  // namespace mace

#endif  // MACE_FACE_CORES_H_
