// The pool of a program on the DSP: threads of its system, where that has them, else the caller alone.
#include <string.h>

#include "native/hexagon/program/vectors.h"
#include "native/hexagon/protocol.h"
#include "native/runtime/thread_jobs.h"

namespace lathe {
namespace hexagon {
namespace {

constexpr size_t kStack = 64 * 1024;  // kernels keep vectors on it
constexpr uint32_t kSignalled = 1;

// Who sleeps, the latest first, and what guards the list.
struct Sleeper {
  Signal signal;
  const uint32_t* word;
  Sleeper* next;
};
Sleeper* sleepers = nullptr;
Mutex guard;
enum : uint32_t { kRaw, kBegun, kReady };
uint32_t guard_state = kRaw;

// False where the system lacks something, or another handle makes the guard just now.
bool CanSleep() {
  if (qurt_thread_create == nullptr || qurt_thread_join == nullptr || qurt_thread_exit == nullptr ||
      qurt_thread_get_id == nullptr || qurt_thread_get_priority == nullptr || qurt_mutex_init == nullptr ||
      qurt_mutex_lock == nullptr || qurt_mutex_unlock == nullptr || qurt_signal_init == nullptr ||
      qurt_signal_wait == nullptr || qurt_anysignal_set == nullptr || qurt_signal_destroy == nullptr)
    return false;
  uint32_t state = kRaw;
  if (!__atomic_compare_exchange_n(&guard_state, &state, kBegun, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
    return state == kReady;
  qurt_mutex_init(&guard);
  Store(&guard_state, kReady);
  return true;
}

void Unlink(const Sleeper* own) {
  Sleeper** place = &sleepers;
  while (*place != nullptr && *place != own) place = &(*place)->next;
  if (*place != nullptr) *place = own->next;
}

}  // namespace
}  // namespace hexagon

void SleepWhile(uint32_t* word, uint32_t value) {
  hexagon::Sleeper own = {{}, word, nullptr};
  qurt_signal_init(&own.signal);
  qurt_mutex_lock(&hexagon::guard);
  if (Load(word) == value) {
    own.next = hexagon::sleepers;
    hexagon::sleepers = &own;
    qurt_mutex_unlock(&hexagon::guard);
    qurt_signal_wait(&own.signal, hexagon::kSignalled, hexagon::kAnySignal);
    qurt_mutex_lock(&hexagon::guard);  // whoever has woken it is through with it
    hexagon::Unlink(&own);
  }
  qurt_mutex_unlock(&hexagon::guard);
  qurt_signal_destroy(&own.signal);
}

void WakeAll(uint32_t* word) {
  qurt_mutex_lock(&hexagon::guard);
  for (hexagon::Sleeper* one = hexagon::sleepers; one != nullptr; one = one->next) {
    if (one->word == word) qurt_anysignal_set(&one->signal, hexagon::kSignalled);
  }
  qurt_mutex_unlock(&hexagon::guard);
}

int AvailableCores() { return static_cast<int>(hexagon::kMostThreads); }

// With fewer threads than asked for, where the system gives fewer, or no memory for their stacks.
Code ThreadPool::Create(int threads, const lathe_allocator& allocator, const ErrorSink& errors, ThreadPool** pool) {
  *pool = nullptr;
  if (threads < 0) return errors.Fail(Code::kInvalidArgument, "the number of threads is negative");
  if (threads == 0 || threads > AvailableCores()) threads = AvailableCores();
  if (threads > 1 && !hexagon::CanSleep()) threads = 1;
  const size_t header = AlignUp(sizeof(ThreadPool));
  void* memory = nullptr;
  size_t workers = 0, shares = 0;
  for (;; threads = 1) {
    workers = AlignUp(sizeof(Worker) * static_cast<size_t>(threads));
    shares = AlignUp(sizeof(Share) * static_cast<size_t>(threads));
    const size_t bytes = header + workers + shares + hexagon::kStack * static_cast<size_t>(threads - 1);
    memory = AllocateFrom(allocator, bytes);
    if (memory != nullptr) break;
    if (threads == 1) return errors.OutOfMemory("the thread pool", bytes);
  }
  auto* made = new (Place(), memory) ThreadPool(allocator);
  char* after = static_cast<char*>(memory) + header;
  made->workers_ = Span<Worker>(reinterpret_cast<Worker*>(after), static_cast<size_t>(threads - 1));
  made->shares_ = Span<Share>(reinterpret_cast<Share*>(after + workers), static_cast<size_t>(threads));
  made->spins_ = 1;  // a thread that waits takes time from the others of its processor
  *pool = made;
  return made->Start(errors);
}

// The stacks lie behind the shares.
Code ThreadPool::Start(const ErrorSink&) {
  auto* stack = reinterpret_cast<char*>(shares_.data()) + AlignUp(sizeof(Share) * shares_.size());
  const auto entry = [](void* worker) {
    WorkerMain(worker);
    qurt_thread_exit(0);
  };
  for (Worker& worker : workers_) {
    worker.pool = this;
    worker.index = started_ + 1;
    hexagon::ThreadWish wish = {};
    memcpy(wish.name, "lathe", 5);
    wish.priority = static_cast<uint16_t>(qurt_thread_get_priority(qurt_thread_get_id()));
    wish.bus_priority = hexagon::kAnyBusPriority;
    wish.timer = hexagon::kNoTimer;
    wish.stack_size = hexagon::kStack;
    wish.stack = stack;
    if (qurt_thread_create(&worker.handle, &wish, entry, &worker) != 0) break;
    stack += hexagon::kStack;
    ++started_;
  }
  threads_ = 1 + started_;
  return Code::kOk;
}

// Not where the pool ends: who waits for that may hold the vectors.
bool ThreadPool::TakeUnits() const { return Load(&stop_) == 0 && hexagon::LockVectors(); }
void ThreadPool::GiveUnits() { hexagon::UnlockVectors(); }

// A worker that was late may wait for the vectors that the caller holds.
void ThreadPool::Stop() {
  if (started_ == 0) return;
  Store(&stop_, 1);
  FetchAdd(&generation_, 1);
  WakeAll(&generation_);
  hexagon::UnlockVectors();
  for (int i = 0; i < started_; ++i) qurt_thread_join(workers_[static_cast<size_t>(i)].handle, nullptr);
  hexagon::LockVectors();
}

bool ThreadPool::IsForked() const { return false; }

void ThreadPool::Release(ThreadPool* pool) {
  if (pool == nullptr || __atomic_sub_fetch(&pool->holders_, 1, __ATOMIC_SEQ_CST) != 0) return;
  pool->Stop();
  const lathe_allocator allocator = pool->allocator_;
  allocator.free(allocator.user, pool);
}

void* ThreadPool::WorkerMain(void* argument) {
  const Worker& worker = *static_cast<Worker*>(argument);
  worker.pool->Work(worker.index);
  return nullptr;
}

}  // namespace lathe
