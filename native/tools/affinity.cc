#include "native/tools/affinity.h"

#include <sched.h>
#include <unistd.h>

#include <cstdio>
#include <set>

#include "mace/face/cores.h"

namespace lathe_run {
namespace {

// How fast the cores are, in units that only this comparison knows. Empty where the system does not tell of each.
std::vector<float> Speeds(const std::string& folder, const char* file) {
  std::vector<float> found;
  for (size_t core = 0;; ++core) {
    const std::string place = folder + "/cpu" + std::to_string(core);
    std::FILE* stream = std::fopen((place + "/" + file).c_str(), "r");
    if (stream == nullptr) {
      // A core that does not tell makes what the others tell worthless.
      return access(place.c_str(), F_OK) == 0 ? std::vector<float>() : found;
    }
    float speed = 0;
    const bool read = std::fscanf(stream, "%f", &speed) == 1;
    std::fclose(stream);
    if (!read) return {};
    found.push_back(speed);
  }
}

std::vector<size_t> CoresNow() {
  std::vector<size_t> cores;
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof(set), &set) != 0) return cores;
  for (size_t core = 0; core < CPU_SETSIZE; ++core)
    if (CPU_ISSET(core, &set)) cores.push_back(core);
  return cores;
}

void List(Json* json, const char* key, const std::vector<size_t>& cores) {
  json->Key(key).Open('[');
  for (const size_t core : cores) json->Number(static_cast<int64_t>(core));
  json->Close(']');
}

}  // namespace

Affinity KeepOn(int policy, int threads, const std::string& folder) {
  Affinity result;
  result.policy = policy;
  // The capacity counts what a core does in a cycle, too.
  std::vector<float> speeds = Speeds(folder, "cpu_capacity");
  if (speeds.empty()) speeds = Speeds(folder, "cpufreq/cpuinfo_max_freq");
  result.kinds = std::set<float>(speeds.begin(), speeds.end()).size();
  result.wanted = mace::face::CoresOf(static_cast<mace::CPUAffinityPolicy>(policy), threads, speeds);
  cpu_set_t before, set;
  if (!result.wanted.empty() && sched_getaffinity(0, sizeof(before), &before) == 0) {
    CPU_ZERO(&set);
    for (const size_t core : result.wanted)
      if (core < CPU_SETSIZE && CPU_ISSET(core, &before)) CPU_SET(core, &set);
    if (CPU_COUNT(&set) != 0) sched_setaffinity(0, sizeof(set), &set);
  }
  result.cores = CoresNow();
  return result;
}

void DescribeAffinity(Json* json, const Affinity& affinity) {
  json->Key("affinity").Open('{').Key("policy").Number(affinity.policy);
  json->Key("kinds").Number(static_cast<int64_t>(affinity.kinds));
  List(json, "wanted", affinity.wanted);
  List(json, "cores", affinity.cores);
  json->Close('}');
}

}  // namespace lathe_run
