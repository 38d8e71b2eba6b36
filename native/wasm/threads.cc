// A WebAssembly module has no threads, or those that the page has made for it: workers, which have entered the module
// and wait there until a pool takes them.
#if !defined(__wasm_atomics__)
#include "native/runtime/one_thread.h"
#else
#include "native/runtime/thread_jobs.h"

namespace lathe {
namespace {

constexpr uint32_t kMaxWorkers = 63;
enum : uint32_t { kAbsent, kFree, kTaken };

// A worker of the page. `main` and `worker` are of the pool that has taken it.
struct Slot {
  uint32_t state;
  void* (*main)(void* worker);
  void* worker;
};
Slot slots[kMaxWorkers];

}  // namespace

int AvailableCores() {
  int found = 1;
  for (const Slot& slot : slots) found += Load(&slot.state) != kAbsent ? 1 : 0;
  return found;
}

// With fewer threads than asked for, where the page has made fewer workers or another pool has them.
Code ThreadPool::Create(int threads, const lathe_allocator& allocator, const ErrorSink& errors, ThreadPool** pool) {
  *pool = nullptr;
  if (threads < 0) return errors.Fail(Code::kInvalidArgument, "the number of threads is negative");
  const int most = AvailableCores();
  if (threads == 0 || threads > most) threads = most;
  const size_t header = AlignUp(sizeof(ThreadPool));
  const size_t workers = AlignUp(sizeof(Worker) * static_cast<size_t>(threads));
  const size_t bytes = header + workers + sizeof(Share) * static_cast<size_t>(threads);
  void* memory = AllocateFrom(allocator, bytes);
  if (memory == nullptr) return errors.OutOfMemory("the thread pool", bytes);
  auto* made = new (Place(), memory) ThreadPool(allocator);
  char* after = static_cast<char*>(memory) + header;
  made->workers_ = Span<Worker>(reinterpret_cast<Worker*>(after), static_cast<size_t>(threads - 1));
  made->shares_ = Span<Share>(reinterpret_cast<Share*>(after + workers), static_cast<size_t>(threads));
  made->spins_ = kSpins;
  *pool = made;
  return made->Start(errors);
}

Code ThreadPool::Start(const ErrorSink&) {
  for (uint32_t index = 0; index < kMaxWorkers && static_cast<size_t>(started_) < workers_.size(); ++index) {
    Slot& slot = slots[index];
    if (Load(&slot.state) != kFree) continue;
    Worker& worker = workers_[static_cast<size_t>(started_++)];
    worker.pool = this;
    worker.index = started_;
    worker.handle = reinterpret_cast<pthread_t>(&slot);
    slot.worker = &worker;
    slot.main = WorkerMain;
    Store(&slot.state, kTaken);
    WakeAll(&slot.state);
  }
  threads_ = 1 + started_;
  return Code::kOk;
}

void ThreadPool::Stop() {
  Store(&stop_, 1);
  FetchAdd(&generation_, 1);
  WakeAll(&generation_);
  for (int i = 0; i < started_; ++i) {
    const Slot& slot = *reinterpret_cast<Slot*>(workers_[static_cast<size_t>(i)].handle);
    while (Load(&slot.state) == kTaken) Pause();
  }
}

bool ThreadPool::IsForked() const { return false; }

void ThreadPool::Release(ThreadPool* pool) {
  if (pool == nullptr || __atomic_sub_fetch(&pool->holders_, 1, __ATOMIC_SEQ_CST) != 0) return;
  pool->Stop();
  const lathe_allocator allocator = pool->allocator_;
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

extern "C" {

// The page has a worker of this number, which is on its way into lathe_worker.
__attribute__((export_name("lathe_worker_add"))) void lathe_wasm_worker_add(uint32_t index) {
  lathe::Store(&lathe::slots[index].state, lathe::kFree);
}

// What a worker calls, with a stack of its own, and never comes back from.
__attribute__((export_name("lathe_worker"))) void lathe_wasm_worker(uint32_t index) {
  lathe::Slot& slot = lathe::slots[index];
  for (;;) {
    while (lathe::Load(&slot.state) != lathe::kTaken) lathe::SleepWhile(&slot.state, lathe::kFree);
    slot.main(slot.worker);
    lathe::Store(&slot.state, lathe::kFree);
  }
}

}  // extern "C"
#endif
