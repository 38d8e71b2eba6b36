// The cores of the machine: how fast they are, which of them a power mode means, and threads that stay on them. Only
// libraries that were built to bind threads hold the code, through Registry::core_binding.
#ifndef LATHE_RUNTIME_CORES_H_
#define LATHE_RUNTIME_CORES_H_

#include "lathe/c_api.h"
#include "native/runtime/memory.h"
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

class ThreadPool;

// Keeps the threads of a pool on cores. The pool knows no more of it than this.
class Binder {
 public:
  // Not while a job runs. `threads`: of the pool.
  virtual Code Bind(const lathe_cpu_options& options, int threads, const ErrorSink& errors) = 0;
  // How many threads a pool should have: at most as many as cores; 0 asks for all of them.
  virtual int Limit(int threads) const = 0;
  // See lathe_api.engine_cores.
  virtual size_t CoresNow(uint32_t* cores, size_t most) const = 0;
  // A run begins on the calling thread, which could be on the cores of `before`: whether it was moved.
  virtual bool Enter(ThreadPool* pool, CoreSet* before) = 0;
  virtual void Leave(const CoreSet& before) = 0;
  // For workers, at the start of a job: moves them where they are no longer where they should be.
  virtual void Follow(uint32_t* seen) = 0;

 protected:
  ~Binder() = default;
};

struct CoreBinding {
  void (*find)(Cores* cores);
  // A pool whose threads are on cores.
  Code (*create)(const lathe_cpu_options& options, int32_t threads, const lathe_allocator& allocator,
                 const ErrorSink& errors, ThreadPool** pool);
  // Keeps the threads of a pool that there is on cores.
  Code (*bind)(ThreadPool* pool, const lathe_cpu_options& options, const ErrorSink& errors);
};
extern const CoreBinding kCoreBinding;

// As long as it lives, the calling thread stays on the cores of a pool; then it may go where it could before.
class RunOnCores {
 public:
  RunOnCores(Binder* binder, ThreadPool* pool) : binder_(binder) {
    if (binder != nullptr && !binder->Enter(pool, &before_)) binder_ = nullptr;
  }
  RunOnCores(const RunOnCores&) = delete;
  RunOnCores& operator=(const RunOnCores&) = delete;
  ~RunOnCores() {
    if (binder_ != nullptr) binder_->Leave(before_);
  }

 private:
  Binder* binder_;
  CoreSet before_;
};

}  // namespace lathe

#endif  // LATHE_RUNTIME_CORES_H_
