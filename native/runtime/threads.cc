#include "native/runtime/threads.h"

#include <sched.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "native/runtime/glibc_compat.h"
#include "native/runtime/thread_jobs.h"

namespace lathe {

int AvailableCores() {
#if defined(__APPLE__)
  const int cores = static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN));
#else
  cpu_set_t set;
  memset(&set, 0, sizeof(set));
  int cores = 0;
  if (sched_getaffinity(0, sizeof(set), &set) == 0) {
    uint8_t bytes[sizeof(set)];
    memcpy(bytes, &set, sizeof(set));
    for (const uint8_t byte : bytes) cores += __builtin_popcount(byte);
  } else {
    cores = static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN));
  }
#endif
  return cores < 1 ? 1 : cores;
}

Code ThreadPool::Create(int threads, const lathe_allocator& allocator, const ErrorSink& errors, ThreadPool** pool) {
  *pool = nullptr;
  if (threads < 0) return errors.Fail(Code::kInvalidArgument, "the number of threads is negative");
  if (threads == 0) threads = AvailableCores();
  if (threads > kMaxThreads) threads = kMaxThreads;
  const size_t header = AlignUp(sizeof(ThreadPool));
  const size_t workers = AlignUp(sizeof(Worker) * static_cast<size_t>(threads));
  const size_t bytes = header + workers + sizeof(Share) * static_cast<size_t>(threads);
  void* memory = AllocateFrom(allocator, bytes);
  if (memory == nullptr) return errors.OutOfMemory("the thread pool", bytes);
  auto* made = new (Place(), memory) ThreadPool(allocator);
  char* after = static_cast<char*>(memory) + header;
  made->workers_ = Span<Worker>(reinterpret_cast<Worker*>(after), static_cast<size_t>(threads - 1));
  made->shares_ = Span<Share>(reinterpret_cast<Share*>(after + workers), static_cast<size_t>(threads));
  made->threads_ = threads;
  const Code code = made->Start(errors);
  if (code == Code::kOk) {
    *pool = made;
  } else {
    Release(made);
  }
  return code;
}

Code ThreadPool::Start(const ErrorSink& errors) {
  owner_ = getpid();
  // Spinning only helps where everybody has a core of his own.
  spins_ = threads_ <= AvailableCores() ? kSpins : 1;
  // Signals are for the program's own threads; the workers inherit the mask.
  sigset_t all, old;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &old);
  int failure = 0;
  for (Worker& worker : workers_) {
    worker.pool = this;
    worker.index = started_ + 1;
    failure = pthread_create(&worker.handle, nullptr, WorkerMain, &worker);
    if (failure != 0) break;
    ++started_;
  }
  pthread_sigmask(SIG_SETMASK, &old, nullptr);
  if (failure == 0) return Code::kOk;
  return errors.Fail(Code::kOutOfMemory, "cannot start thread %d of %d: %s; ask for fewer threads", started_ + 2,
                     threads_, strerror(failure));
}

void ThreadPool::Stop() {
  Store(&stop_, 1);
  FetchAdd(&generation_, 1);
  WakeAll(&generation_);
  for (int i = 0; i < started_; ++i) pthread_join(workers_[static_cast<size_t>(i)].handle, nullptr);
}

bool ThreadPool::IsForked() const { return owner_ != getpid(); }

void ThreadPool::Release(ThreadPool* pool) {
  if (pool == nullptr || __atomic_sub_fetch(&pool->holders_, 1, __ATOMIC_SEQ_CST) != 0) return;
  // After a fork the workers exist in the parent only, and the mutex may be held by one of them for ever.
  if (!pool->IsForked()) pool->Stop();
  const lathe_allocator allocator = pool->allocator_;
  if (pool->binder_ != nullptr) allocator.free(allocator.user, pool->binder_);
  allocator.free(allocator.user, pool);
}

bool ThreadPool::TakeUnits() const { return true; }
void ThreadPool::GiveUnits() {}

void* ThreadPool::WorkerMain(void* argument) {
  const Worker& worker = *static_cast<Worker*>(argument);
  worker.pool->Work(worker.index);
  return nullptr;
}

}  // namespace lathe
