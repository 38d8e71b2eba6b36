// The cores of the machine: how fast they are, and which of them a power mode means.
#ifndef LATHE_RUNTIME_CORES_H_
#define LATHE_RUNTIME_CORES_H_

#include "lathe/c_api.h"
#include "native/runtime/span.h"
#include "native/runtime/status.h"

namespace lathe {

constexpr uint32_t kMaxCores = 256;
constexpr uint32_t kRunsPerCore = 10;  // of LATHE_POWER_RAND_*

// Numbers of cores, as the system takes them.
struct CoreSet {
  uint32_t words[32] = {};  // as large as the system's own type
  void Add(uint32_t core) { words[core / 32] |= 1u << core % 32; }
  bool Has(uint32_t core) const { return (words[core / 32] >> core % 32 & 1u) != 0; }
};

// Those that the calling thread may be on; false where the system does not tell.
bool CoresOfThread(CoreSet* set);
// A system may refuse.
bool MoveThread(const CoreSet& set);

struct Cores {
  uint32_t count = 0;
  lathe_core_info info[kMaxCores] = {};
};

// `folder` is that of the system; tests have others. Cores beyond kMaxCores are left out.
void FindCores(const char* folder, uint32_t count, Cores* cores);
void FindCores(Cores* cores);

// Where threads run. None: where the system puts them.
struct Binding {
  uint32_t count = 0;  // of cores
  bool whole = false;  // any thread may be on any of them; else there are as many cores as threads, from the first on
  bool turns = false;  // every kRunsPerCore runs the first is one further
  uint8_t core[kMaxCores] = {};

  // The cores of the run of this number, for so many threads.
  CoreSet Select(uint32_t run, int threads) const;
};

// What a mode or a list means among cores that this thread may run on. A mode that the machine does not have, because
// its cores are alike, binds nothing; a list with a core that is not there is an error.
Code FindBinding(const lathe_cpu_options& options, const Cores& cores, const ErrorSink& errors, Binding* binding);

// As long as it lives, the calling thread stays on these cores; then it may go where it could before.
class OnCores {
 public:
  explicit OnCores(const CoreSet* set);  // null: anywhere
  OnCores(const OnCores&) = delete;
  OnCores& operator=(const OnCores&) = delete;
  ~OnCores() {
    if (moved_) MoveThread(before_);
  }

 private:
  CoreSet before_;
  bool moved_ = false;
};

}  // namespace lathe

#endif  // LATHE_RUNTIME_CORES_H_
