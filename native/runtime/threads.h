// A small pool of threads that run slices of a loop.
#ifndef LATHE_RUNTIME_THREADS_H_
#define LATHE_RUNTIME_THREADS_H_

#if !defined(__wasm__)
#include <pthread.h>
#endif
#include <sys/types.h>  // which has the type of threads where no system has threads

#include "native/runtime/cores.h"
#include "native/runtime/kernel.h"
#include "native/runtime/memory.h"
#include "native/runtime/status.h"

namespace lathe {

constexpr int kMaxThreads = 256;

// Loops are cut by count and grain alone, never by the number of threads.
constexpr int64_t kMaxSlices = 64;
constexpr int64_t SliceCount(int64_t count, int64_t grain) {
  const int64_t slices = count / (grain > 1 ? grain : 1);
  return slices < 1 ? 1 : slices > kMaxSlices ? kMaxSlices : slices;
}

// Cores that this process may run on, at least 1.
int AvailableCores();

class ThreadPool {
 public:
  // `threads` counts the caller of Parallel; 0 means one per core.
  static Code Create(int threads, const lathe_allocator& allocator, const ErrorSink& errors, ThreadPool** pool);
  // Each that uses a pool holds it, its creator once; the last one to release it ends the threads.
  void Hold() { __atomic_fetch_add(&holders_, 1, __ATOMIC_SEQ_CST); }
  static void Release(ThreadPool* pool);

  int threads() const { return threads_; }
  Binder* binder() const { return binder_; }
  // What keeps the threads on cores belongs to the pool from here on. Not while a job runs.
  void set_binder(Binder* binder) { binder_ = binder; }
  const lathe_allocator& allocator() const { return allocator_; }

  // See lathe_api.set_thread_observer. Not while a job runs.
  void SetObserver(lathe_thread_observer observer, void* user) {
    observer_ = observer;
    observer_user_ = user;
  }

  // Keeps jobs out, where none runs.
  bool Keep() { return __atomic_exchange_n(&busy_, 1, __ATOMIC_SEQ_CST) == 0; }
  void LetGo() { __atomic_store_n(&busy_, uint32_t{0}, __ATOMIC_SEQ_CST); }

  // See RunContext::Parallel. Callers that find the pool busy (another session, or a slice of their own) and callers in
  // a process that was forked from the pool's do all slices themselves: the results are the same.
  void Parallel(int64_t count, int64_t grain, ParallelBody body, void* argument);

 private:
  struct Job {
    ParallelBody body;
    void* argument;
    int64_t count;
    uint32_t slices;
    void RunSlice(uint32_t slice, int thread) const;
  };
  struct Worker {
    ThreadPool* pool;
    pthread_t handle;
    int index;
  };

  // The slices of the current job that a thread begins with.
  struct alignas(64) Share {
    uint32_t next;
  };

  explicit ThreadPool(const lathe_allocator& allocator) : allocator_(allocator) {}
  Code Start(const ErrorSink& errors);
  void Stop();
  static void* WorkerMain(void* argument);
  void Work(int thread);
  uint32_t AwaitGeneration(uint32_t seen);
  bool IsForked() const;
  // What a worker needs for a job besides itself, as the vectors of some processors. False: it has to do without jobs.
  bool TakeUnits() const;
  static void GiveUnits();
  bool Enter();
  void Leave();
  void CloseAndWait();
  void TakeSlices(int thread);
  uint32_t RunShares(int thread);

  // The gate of the current job: kOpen while workers may enter, and the number that are inside.
  static constexpr uint32_t kOpen = 1u << 31;

  lathe_allocator allocator_;
  uint32_t holders_ = 1;
#if !defined(__wasm__) && !defined(__hexagon__)
  pid_t owner_ = 0;  // the process that made it
#endif
  int threads_ = 1;
  int started_ = 0;  // workers that exist
  int spins_ = 0;
  lathe_thread_observer observer_ = nullptr;
  void* observer_user_ = nullptr;
  Binder* binder_ = nullptr;
  Span<Worker> workers_;
  Span<Share> shares_;  // one for each thread

  Job job_ = {};
  alignas(64) uint32_t generation_ = 0;  // counts jobs
  uint32_t stop_ = 0;
  uint32_t busy_ = 0;
  alignas(64) uint32_t gate_ = 0;
  alignas(64) uint32_t sleepers_ = 0;
  uint32_t caller_sleeps_ = 0;
};

}  // namespace lathe

#endif  // LATHE_RUNTIME_THREADS_H_
