// The thread pool in every order in which its threads can come to each other, up to a number of preemptions.
//
// The source of the pool is compiled here with a scheduler in the place of the kernel: threads are coroutines, and
// every atomic operation, wait and wake-up is a point at which another thread may go on. A run is a list of choices;
// the next run takes the last choice that has an alternative. What is found is found every time.
#include <gtest/gtest.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <string.h>
#include <ucontext.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "native/runtime/clock.h"
#include "native/runtime/futex.h"
#include "native/runtime/glibc_compat.h"
#include "native/runtime/memory.h"
#include "native/runtime/status.h"

namespace schedules {

// Faults in what the pool is built upon, to see that they are found.
enum class Fault { kNone, kAddForCompareAndSwap, kAddInTwoSteps, kAndInTwoSteps, kNoWake, kExchangeInTwoSteps };

class Scheduler {
 public:
  Scheduler(Fault fault, int preemptions) : fault_(fault), preemptions_(preemptions) {}

  // Runs `main` in all orders. The first complaint; empty where there is none.
  std::string Explore(const std::function<void()>& main) {
    do {
      Run(main);
      ++runs;
    } while (complaint.empty() && NextChoices());
    return complaint;
  }

  size_t Start(const std::function<void()>& body) {
    threads_.push_back(std::make_unique<Thread>());
    Thread* thread = threads_.back().get();
    thread->body = body;
    thread->stack.resize(64 << 10);
    getcontext(&thread->context);
    thread->context.uc_stack.ss_sp = thread->stack.data();
    thread->context.uc_stack.ss_size = thread->stack.size();
    thread->context.uc_link = &home_;
    makecontext(&thread->context, Enter, 0);
    return threads_.size() - 1;
  }

  // Another thread may go on here.
  void Step() {
    if (over_) return;
    if (++steps_ > kMostSteps) Complain("the threads go round in circles");
    Yield();
  }

  // As the kernel has it: looking and falling asleep are one.
  void SleepWhile(const uint32_t* word, uint32_t value) {
    Step();
    if (*word != value || over_) return;
    threads_[current_]->waits_for = word;
    Yield();
  }

  void WakeAll(const uint32_t* word) {
    Step();
    if (fault_ == Fault::kNoWake) return;
    for (auto& thread : threads_)
      if (thread->waits_for == word) thread->waits_for = nullptr;
  }

  void Join(size_t number) {
    while (!threads_[number]->done && !over_) {
      threads_[current_]->joins = static_cast<int>(number);
      Yield();
    }
  }

  void Complain(const std::string& what) {
    if (complaint.empty()) complaint = what;
    over_ = true;
  }

  bool IsFaulty(Fault fault) const { return fault_ == fault; }
  bool over() const { return over_; }

  static Scheduler* active;
  std::string complaint;
  size_t runs = 0;

 private:
  struct Thread {
    ucontext_t context;
    std::vector<char> stack;
    std::function<void()> body;
    const uint32_t* waits_for = nullptr;
    int joins = -1;
    bool done = false;
  };
  struct Choice {
    size_t taken, count;
  };
  static constexpr int kMostSteps = 3000;

  static void Enter() {
    Thread* self = active->threads_[active->current_].get();
    self->body();
    self->done = true;
  }

  void Run(const std::function<void()>& main) {
    active = this;
    threads_.clear();
    steps_ = position_ = 0;
    used_ = 0;
    over_ = false;
    Start(main);
    current_ = 0;
    while (!over_ && !threads_[0]->done) {
      const std::vector<size_t> able = Able();
      if (able.empty()) {
        Complain("all threads wait for each other");
        break;
      }
      current_ = able[Choose(able)];
      swapcontext(&home_, &threads_[current_]->context);
    }
  }

  void Yield() { swapcontext(&threads_[current_]->context, &home_); }

  // The threads that can go on, the current one first.
  std::vector<size_t> Able() const {
    std::vector<size_t> able;
    for (size_t turn = 0; turn < threads_.size(); ++turn) {
      const size_t number = (current_ + turn) % threads_.size();
      const Thread& thread = *threads_[number];
      const bool joins = thread.joins >= 0 && !threads_[static_cast<size_t>(thread.joins)]->done;
      if (!thread.done && thread.waits_for == nullptr && !joins) able.push_back(number);
    }
    return able;
  }

  // To leave a thread that could go on is a preemption, and there are only so many.
  size_t Choose(const std::vector<size_t>& able) {
    const bool goes_on = able[0] == current_;
    const size_t count = goes_on && used_ >= preemptions_ ? 1 : able.size();
    if (position_ == choices_.size()) choices_.push_back({0, count});
    const size_t taken = choices_[position_++].taken;
    used_ += goes_on && taken != 0;
    return taken;
  }

  bool NextChoices() {
    while (!choices_.empty() && choices_.back().taken + 1 == choices_.back().count) choices_.pop_back();
    if (choices_.empty()) return false;
    ++choices_.back().taken;
    return true;
  }

  Fault fault_;
  int preemptions_, used_ = 0, steps_ = 0;
  bool over_ = false;
  ucontext_t home_;
  std::vector<std::unique_ptr<Thread>> threads_;
  size_t current_ = 0, position_ = 0;
  std::vector<Choice> choices_;
};
Scheduler* Scheduler::active = nullptr;

// What the pool calls.
template <typename T>
T Load(const T* word) {
  Scheduler::active->Step();
  return *word;
}
template <typename T>
void Store(T* word, T value) {
  Scheduler::active->Step();
  *word = value;
}
template <typename T>
T Change(T* word, T (*make)(T, T), T value, Fault torn) {
  Scheduler::active->Step();
  const T before = *word;
  if (Scheduler::active->IsFaulty(torn)) Scheduler::active->Step();
  *word = make(before, value);
  return before;
}
inline uint32_t Sum(uint32_t a, uint32_t b) { return a + b; }
inline uint32_t Both(uint32_t a, uint32_t b) { return a & b; }
inline uint32_t Second(uint32_t, uint32_t b) { return b; }
inline bool CompareAndSwap(uint32_t* word, uint32_t* expected, uint32_t desired) {
  Scheduler::active->Step();
  if (Scheduler::active->IsFaulty(Fault::kAddForCompareAndSwap)) {
    *word += desired - *expected;
    return true;
  }
  const bool equal = *word == *expected;
  if (equal) *word = desired;
  if (!equal) *expected = *word;
  return equal;
}
inline int StartThread(pthread_t* handle, void* (*main)(void*), void* argument) {
  *handle = static_cast<pthread_t>(Scheduler::active->Start([main, argument] { main(argument); }));
  return 0;
}

}  // namespace schedules

#define __atomic_load_n(word, order) schedules::Load(word)
#define __atomic_store_n(word, value, order) schedules::Store(word, value)
#define __atomic_fetch_add(word, value, order) \
  schedules::Change<uint32_t>(word, schedules::Sum, value, schedules::Fault::kAddInTwoSteps)
#define __atomic_sub_fetch(word, value, order) (*(word) -= (value))
#define __atomic_fetch_and(word, value, order) \
  schedules::Change<uint32_t>(word, schedules::Both, value, schedules::Fault::kAndInTwoSteps)
#define __atomic_exchange_n(word, value, order) \
  schedules::Change<uint32_t>(word, schedules::Second, value, schedules::Fault::kExchangeInTwoSteps)
#define __atomic_compare_exchange_n(word, expected, desired, weak, success, failure) \
  schedules::CompareAndSwap(word, expected, desired)
#define SleepWhile(word, value) schedules::Scheduler::active->SleepWhile(word, value)
#define WakeAll(word) schedules::Scheduler::active->WakeAll(word)
#define pthread_create(handle, attributes, main, argument) schedules::StartThread(handle, main, argument)
#define pthread_join(handle, result) schedules::Scheduler::active->Join(static_cast<size_t>(handle))
#define pthread_sigmask(how, set, old) static_cast<void>(old)
#define sched_getaffinity(pid, size, set) -1
#define sysconf(name) 1  // one core: nobody spins for long
// Another name, so that the pool of the other tests stays as it is.
#define ThreadPool ScheduledPool
#define AvailableCores ScheduledCores
#include "native/runtime/threads.cc"
#undef ThreadPool
#undef AvailableCores

namespace lathe {
namespace {

using schedules::Fault;
using schedules::Scheduler;

// What the slices of jobs write down.
struct Job {
  int ran[4] = {};
  bool open = false;
  Scheduler* scheduler;
};

void Body(void* argument, int64_t begin, int64_t end, int) {
  Job* job = static_cast<Job*>(argument);
  if (!job->open) job->scheduler->Complain("a slice runs when its job is over");
  for (int64_t i = begin; i < end; ++i) ++job->ran[i];
}

// A second job is longer than the first: what a thread that is late takes for the first one then has slices.
void RunJob(ScheduledPool* pool, Scheduler* scheduler, int count) {
  if (scheduler->over()) return;
  Job job;
  job.scheduler = scheduler;
  job.open = true;
  pool->Parallel(count, 1, Body, &job);
  job.open = false;
  for (int i = 0; i < count; ++i)
    if (job.ran[i] != 1 && !scheduler->over())
      scheduler->Complain("slice " + std::to_string(i) + " ran " + std::to_string(job.ran[i]) + " times");
}

// `threads` in the pool; `callers` that use it at once, each for some jobs.
std::string Explore(Fault fault, int threads, int callers, int jobs, int preemptions, size_t* runs = nullptr) {
  Scheduler scheduler(fault, preemptions);
  const std::string complaint = scheduler.Explore([&] {
    lathe_error error = {};
    ScheduledPool* pool = nullptr;
    if (ScheduledPool::Create(threads, DefaultAllocator(), ErrorSink(&error), &pool) != Code::kOk) abort();
    const auto work = [&] {
      for (int job = 0; job < jobs; ++job) RunJob(pool, &scheduler, 2 + 2 * job);
    };
    std::vector<size_t> others;
    for (int caller = 1; caller < callers; ++caller) others.push_back(scheduler.Start(work));
    work();
    for (const size_t other : others) scheduler.Join(other);
    if (!scheduler.over()) ScheduledPool::Release(pool);
  });
  if (runs != nullptr) *runs = scheduler.runs;
  return complaint;
}

TEST(Schedules, EveryOrderOfTwoThreadsAndTwoJobs) {
  size_t runs = 0;
  EXPECT_EQ(Explore(Fault::kNone, 2, 1, 2, 3, &runs), "");
  EXPECT_GT(runs, 5000u);
  RecordProperty("runs", static_cast<int>(runs));
}

TEST(Schedules, EveryOrderOfThreeThreads) {
  size_t runs = 0;
  EXPECT_EQ(Explore(Fault::kNone, 3, 1, 1, 2, &runs), "");
  EXPECT_GT(runs, 2000u);
}

TEST(Schedules, EveryOrderOfTwoCallers) {
  size_t runs = 0;
  EXPECT_EQ(Explore(Fault::kNone, 2, 2, 1, 2, &runs), "");
  EXPECT_GT(runs, 1000u);
}

TEST(Schedules, FaultsAreFound) {
  EXPECT_NE(Explore(Fault::kAddForCompareAndSwap, 2, 1, 2, 3), "");
  EXPECT_NE(Explore(Fault::kAddInTwoSteps, 2, 1, 1, 2), "");
  EXPECT_NE(Explore(Fault::kAndInTwoSteps, 2, 1, 2, 3), "");
  EXPECT_EQ(Explore(Fault::kNoWake, 2, 1, 2, 3), "all threads wait for each other");
  EXPECT_NE(Explore(Fault::kExchangeInTwoSteps, 2, 2, 1, 3), "");
}

}  // namespace
}  // namespace lathe
