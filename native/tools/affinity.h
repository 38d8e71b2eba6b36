// Keeps the program on the cores that a policy means, on machines whose cores differ.
#ifndef LATHE_TOOLS_AFFINITY_H_
#define LATHE_TOOLS_AFFINITY_H_

#include <cstddef>
#include <string>
#include <vector>

#include "native/tools/json.h"

namespace lathe_run {

struct Affinity {
  int policy = 0;
  size_t kinds = 0;            // of cores, as far as the system tells; 0 where it does not
  std::vector<size_t> wanted;  // by the policy; none where there is nothing to choose
  std::vector<size_t> cores;   // on which the program is now; those that it may not use are left out
};

// `policy` is a number of mace::CPUAffinityPolicy, `threads` 0 for one per core, `folder` /sys/devices/system/cpu.
// It holds for the calling thread, and for those that it starts from now on.
Affinity KeepOn(int policy, int threads, const std::string& folder);

void DescribeAffinity(Json* json, const Affinity& affinity);

}  // namespace lathe_run

#endif  // LATHE_TOOLS_AFFINITY_H_
