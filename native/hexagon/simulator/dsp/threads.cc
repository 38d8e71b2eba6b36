// Threads of programs on the emulated DSP, and what they wait for each other with: as the DSP's system (qurt) has them,
// made of Linux's. Objects of programs are used as words; theirs are at least as large.
#include <string.h>

#include "native/hexagon/simulator/dsp/system.h"

// A new thread, which calls `entry(argument)` on its own stack and ends; then Linux makes `alive` zero and wakes who
// waits for it. The answer of Linux.
extern "C" long lathe_dsp_clone(long flags, void* stack, void (*entry)(void*), void* argument, uint32_t* alive);
__asm__(
    ".globl lathe_dsp_clone\n"
    "lathe_dsp_clone:\n"
    "  { allocframe(#8) }\n"
    "  { memd(r29 + #0) = r17:16 }\n"
    "  { r16 = r2; r17 = r3 }\n"
    "  { r2 = #0; r3 = r4; r6 = #220 }\n"  // the order of the last two depends on Linux: nobody needs the other one
    "  { trap0(#1) }\n"
    "  { p0 = cmp.eq(r0, #0); if (!p0.new) jump:t 1f }\n"
    "  { r0 = r17; callr r16 }\n"
    "  { r0 = #0; r6 = #93 }\n"
    "  { trap0(#1) }\n"
    "1:\n"
    "  { r17:16 = memd(r29 + #0) }\n"
    "  { dealloc_return }\n");

namespace lathe {
namespace hexagon {

namespace {

constexpr size_t kStack = 256 * 1024;  // of a thread whose maker gives none
constexpr int kMostThreads = 64;
constexpr int kOk = 0, kFailed = -1;
constexpr long kAsThread = 0x250f00;  // memory, files, signals and more are shared; `alive` is cleared

// What a program says of a thread that it wants, as far as anybody here asks for it.
struct Wanted {
  char name[16];
  uint8_t place[2];
  uint16_t priority;
  uint8_t others[4];
  uint32_t stack_size;
  uint8_t* stack;
};

struct Thread {
  uint32_t used;   // 0: nobody has the place
  uint32_t alive;  // 0: it has ended, and its stack is free
  long id;
  int status;
  void (*entry)(void*);
  void* argument;
  Wanted wanted;
  void* own_stack;  // where its maker gave none
};
uint32_t most_threads = kMostThreads, made_threads = 0, live_threads = 0;
Thread threads[kMostThreads];

uint32_t Load(const uint32_t* word) { return __atomic_load_n(word, __ATOMIC_SEQ_CST); }
void Store(uint32_t* word, uint32_t value) { __atomic_store_n(word, value, __ATOMIC_SEQ_CST); }

Thread* ThreadOf(long id) {
  for (Thread& thread : threads) {
    if (Load(&thread.used) != 0 && thread.id == id) return &thread;
  }
  return nullptr;
}

void Begin(void* place) {
  auto* thread = static_cast<Thread*>(place);
  thread->id = ThreadId();
  thread->entry(thread->argument);
}

int Create(uint32_t* id, const Wanted* wanted, void (*entry)(void*), void* argument) {
  if (Load(&live_threads) >= most_threads) return kFailed;
  for (Thread& thread : threads) {
    uint32_t nobody = 0;
    if (!__atomic_compare_exchange_n(&thread.used, &nobody, 1, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) continue;
    memcpy(&thread.wanted, wanted, sizeof thread.wanted);
    thread.own_stack = wanted->stack == nullptr ? MapMemory(kStack) : nullptr;
    thread.status = 0;
    thread.entry = entry;
    thread.argument = argument;
    uint8_t* bottom = wanted->stack != nullptr ? wanted->stack : static_cast<uint8_t*>(thread.own_stack);
    const uintptr_t top =
        reinterpret_cast<uintptr_t>(bottom) + (wanted->stack != nullptr ? wanted->stack_size : kStack);
    Store(&thread.alive, 1);
    const long made = bottom == nullptr ? kFailed
                                        : lathe_dsp_clone(kAsThread, reinterpret_cast<void*>(top & ~uintptr_t{127}),
                                                          Begin, &thread, &thread.alive);
    if (made < 0) {
      if (thread.own_stack != nullptr) UnmapMemory(thread.own_stack, kStack);
      Store(&thread.used, 0);
      return kFailed;
    }
    __atomic_fetch_add(&made_threads, 1, __ATOMIC_SEQ_CST);
    __atomic_fetch_add(&live_threads, 1, __ATOMIC_SEQ_CST);
    thread.id = made;
    *id = static_cast<uint32_t>(made);
    return kOk;
  }
  return kFailed;
}

int Join(uint32_t id, int* status) {
  Thread* thread = ThreadOf(static_cast<long>(id));
  if (thread == nullptr) return kFailed;
  while (Load(&thread->alive) != 0) SleepUntilEnded(&thread->alive, 1);
  if (status != nullptr) *status = thread->status;
  if (thread->own_stack != nullptr) UnmapMemory(thread->own_stack, kStack);
  __atomic_fetch_sub(&live_threads, 1, __ATOMIC_SEQ_CST);
  Store(&thread->used, 0);
  return kOk;
}

[[noreturn]] void EndNow(int status) {
  if (Thread* thread = ThreadOf(ThreadId())) thread->status = status;
  ExitThread();
}

long Id() { return ThreadId(); }
int Priority(uint32_t id) {
  const Thread* thread = ThreadOf(static_cast<long>(id));
  return thread != nullptr ? thread->wanted.priority : 0;
}
void Name(char* name, unsigned char size) {
  const Thread* thread = ThreadOf(ThreadId());
  for (unsigned i = 0; i < size; ++i) name[i] = thread != nullptr && i < 16 ? thread->wanted.name[i] : '\0';
}

// A mutex goes to the thread with the highest priority, the least number, that waits for it.
struct Waiting {
  const uint32_t* mutex;
  int priority;
  uint32_t granted;
  Waiting* next;
};
Waiting* waiting = nullptr;  // the latest first
uint32_t guard = 0;          // of it, and of all mutexes: 0 free, 1 held

void Guard() {
  while (__atomic_exchange_n(&guard, 1, __ATOMIC_SEQ_CST) != 0) Sleep(&guard, 1);
}
void Unguard() {
  Store(&guard, 0);
  Wake(&guard);
}

int InitMutex(uint32_t* mutex) {
  Store(mutex, 0);
  return kOk;
}

void Lock(uint32_t* mutex) {
  Waiting own = {mutex, Priority(static_cast<uint32_t>(ThreadId())), 0, nullptr};
  Guard();
  const bool is_free = Load(mutex) == 0;
  if (is_free) {
    Store(mutex, 1);
  } else {
    own.next = waiting;
    waiting = &own;
  }
  Unguard();
  while (!is_free && Load(&own.granted) == 0) Sleep(&own.granted, 0);
}

void Unlock(uint32_t* mutex) {
  Guard();
  Waiting** chosen = nullptr;
  for (Waiting** place = &waiting; *place != nullptr; place = &(*place)->next) {
    if ((*place)->mutex == mutex && (chosen == nullptr || (*place)->priority <= (*chosen)->priority)) chosen = place;
  }
  if (chosen == nullptr) {
    Store(mutex, 0);
  } else {
    Waiting* next = *chosen;
    *chosen = next->next;
    uint32_t* granted = &next->granted;
    Store(granted, 1);  // its memory may be gone from here on: only the address is used
    Wake(granted);
  }
  Unguard();
}
int Destroy(void*) { return kOk; }

struct Barrier {
  uint32_t round, arrived, total;
};
int InitBarrier(Barrier* barrier, uint32_t total) {
  *barrier = {0, 0, total};
  return kOk;
}
int Arrive(Barrier* barrier) {
  const uint32_t round = Load(&barrier->round);
  if (__atomic_add_fetch(&barrier->arrived, 1, __ATOMIC_SEQ_CST) == barrier->total) {
    Store(&barrier->arrived, 0);
    Store(&barrier->round, round + 1);
    Wake(&barrier->round);
    return kOk;
  }
  while (Load(&barrier->round) == round) Sleep(&barrier->round, round);
  return kOk;
}

void InitSignal(uint32_t* signals) { Store(signals, 0); }
uint32_t Set(uint32_t* signals, uint32_t mask) {
  const uint32_t before = __atomic_fetch_or(signals, mask, __ATOMIC_SEQ_CST);
  Wake(signals);
  return before;
}
uint32_t Await(uint32_t* signals, uint32_t mask, uint32_t all) {
  for (;;) {
    const uint32_t now = Load(signals);
    if (all != 0 ? (now & mask) == mask : (now & mask) != 0) return now;
    Sleep(signals, now);
  }
}

// The vectors: threads that hold them, of which there are so many at most.
uint32_t most_vectors = kMostThreads, holding = 0;
int LockVectors(int) {
  if (most_vectors == 0) return kFailed;
  for (uint32_t held = Load(&holding);;) {
    if (held >= most_vectors) {
      Sleep(&holding, held);
      held = Load(&holding);
    } else if (__atomic_compare_exchange_n(&holding, &held, held + 1, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) {
      return kOk;
    }
  }
}
int UnlockVectors() {
  if (Load(&holding) == 0) return kFailed;
  __atomic_fetch_sub(&holding, 1, __ATOMIC_SEQ_CST);
  Wake(&holding);
  return kOk;
}

template <typename T>
uintptr_t AddressOf(T* function) {
  return reinterpret_cast<uintptr_t>(function);
}

}  // namespace

void LimitThreads(uint32_t most, uint32_t vectors) {
  most_threads = most;
  most_vectors = vectors;
}

void CountThreads(uint32_t* made, uint32_t* live) {
  *made = Load(&made_threads);
  *live = Load(&live_threads);
}

uintptr_t ThreadSymbol(const char* name) {
  if (strcmp(name, "qurt_hvx_lock") == 0) return AddressOf(LockVectors);
  if (strcmp(name, "qurt_hvx_unlock") == 0) return AddressOf(UnlockVectors);
  if (most_threads == 0) return 0;
  static const struct {
    const char* name;
    uintptr_t address;
  } services[] = {
      {"qurt_thread_create", AddressOf(Create)},     {"qurt_thread_join", AddressOf(Join)},
      {"qurt_thread_exit", AddressOf(EndNow)},       {"qurt_thread_get_id", AddressOf(Id)},
      {"qurt_thread_get_name", AddressOf(Name)},     {"qurt_thread_get_priority", AddressOf(Priority)},
      {"qurt_mutex_init", AddressOf(InitMutex)},     {"qurt_mutex_lock", AddressOf(Lock)},
      {"qurt_mutex_unlock", AddressOf(Unlock)},      {"qurt_mutex_destroy", AddressOf(Destroy)},
      {"qurt_barrier_init", AddressOf(InitBarrier)}, {"qurt_barrier_wait", AddressOf(Arrive)},
      {"qurt_barrier_destroy", AddressOf(Destroy)},  {"qurt_signal_init", AddressOf(InitSignal)},
      {"qurt_anysignal_set", AddressOf(Set)},        {"qurt_signal_wait", AddressOf(Await)},
      {"qurt_signal_destroy", AddressOf(Destroy)},
  };
  for (const auto& service : services) {
    if (strcmp(service.name, name) == 0) return service.address;
  }
  return 0;
}

}  // namespace hexagon
}  // namespace lathe
