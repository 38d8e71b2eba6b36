// How the threads of a pool share a job, wherever the threads come from: the source that has the rest of ThreadPool,
// and no other, includes this.
#ifndef LATHE_RUNTIME_THREAD_JOBS_H_
#define LATHE_RUNTIME_THREAD_JOBS_H_

#include "native/runtime/clock.h"
#include "native/runtime/futex.h"
#include "native/runtime/threads.h"

namespace lathe {

namespace {

// <atomic> belongs to the C++ library. 32 bits are atomic on every machine; all orders are sequential, which is what
// the protocol between sleepers and wakers below needs.
uint32_t Load(const uint32_t* word) { return __atomic_load_n(word, __ATOMIC_SEQ_CST); }
void Store(uint32_t* word, uint32_t value) { __atomic_store_n(word, value, __ATOMIC_SEQ_CST); }
uint32_t FetchAdd(uint32_t* word, uint32_t value) { return __atomic_fetch_add(word, value, __ATOMIC_SEQ_CST); }

void Pause() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__) || (defined(__arm__) && __ARM_ARCH >= 7)
  __asm__ volatile("yield");
#endif
}

// On x86 about a millisecond, longer than what one thread does alone between two nodes: a wake-up costs as much as a
// small node, so sleeping is for the time between two runs. Elsewhere a spin is short, and nothing longer was measured.
#if defined(__x86_64__) || defined(__i386__)
constexpr int kSpins = 20000;  // a pause is some 140 cycles
#elif defined(__wasm__)
constexpr int kSpins = 50000;  // there is no pause
#else
constexpr int kSpins = 1000;
#endif

}  // namespace

void ThreadPool::Job::RunSlice(uint32_t slice, int thread) const {
  // The first `rest` slices are one item longer.
  const int64_t length = count / slices, rest = count % slices;
  const int64_t begin = slice * length + (slice < rest ? slice : rest);
  body(argument, begin, begin + length + (slice < rest ? 1 : 0), thread);
}

// Each thread begins with slices of its own, the same ones of every job, so that it finds in its cache what it wrote
// in the job before; then it helps the others. Returns how many it ran.
uint32_t ThreadPool::RunShares(int thread) {
  uint32_t ran = 0;
  const auto threads = static_cast<uint32_t>(threads_);
  for (uint32_t turn = 0; turn < threads; ++turn) {
    const uint32_t owner = (static_cast<uint32_t>(thread) + turn) % threads;
    const uint32_t end = job_.slices * (owner + 1) / threads;
    for (;;) {
      const uint32_t slice = FetchAdd(&shares_[owner].next, 1);
      if (slice >= end) break;
      job_.RunSlice(slice, thread);
      ++ran;
    }
  }
  return ran;
}

void ThreadPool::TakeSlices(int thread) {
  if (observer_ == nullptr) {
    RunShares(thread);
    return;
  }
  const int64_t start = NowNanoseconds();
  const uint32_t ran = RunShares(thread);
  if (ran == 0) return;
  const lathe_thread_event event = {sizeof(event), static_cast<uint32_t>(thread), ran, start, NowNanoseconds()};
  observer_(observer_user_, &event);
}

void ThreadPool::Parallel(int64_t count, int64_t grain, ParallelBody body, void* argument) {
  if (count <= 0) return;
  const Job job = {body, argument, count, static_cast<uint32_t>(SliceCount(count, grain))};
  const bool alone = job.slices == 1 || threads_ == 1 || __atomic_exchange_n(&busy_, 1, __ATOMIC_SEQ_CST) != 0;
  if (alone || IsForked()) {
    for (uint32_t slice = 0; slice < job.slices; ++slice) job.RunSlice(slice, 0);
    if (!alone) Store(&busy_, 0);
    return;
  }
  job_ = job;
  for (uint32_t thread = 0; thread < shares_.size(); ++thread)
    Store(&shares_[thread].next, job.slices * thread / static_cast<uint32_t>(threads_));
  Store(&gate_, kOpen);
  FetchAdd(&generation_, 1);
  // A worker counts itself among the sleepers before it looks at the generation a last time, so either it sees the new
  // one or this sees the sleeper.
  if (Load(&sleepers_) != 0) WakeAll(&generation_);
  TakeSlices(0);
  CloseAndWait();
  Store(&busy_, 0);
}

// Workers that have not entered by now need not: all slices are taken. Those inside must leave before the job changes.
void ThreadPool::CloseAndWait() {
  __atomic_fetch_and(&gate_, ~kOpen, __ATOMIC_SEQ_CST);
  for (int spin = 0; spin < spins_; ++spin) {
    if (Load(&gate_) == 0) return;
    Pause();
  }
  while (!kCallersSleep && Load(&gate_) != 0) Pause();
  Store(&caller_sleeps_, 1);
  for (uint32_t gate = Load(&gate_); gate != 0; gate = Load(&gate_)) SleepWhile(&gate_, gate);
  Store(&caller_sleeps_, 0);
}

bool ThreadPool::Enter() {
  uint32_t gate = Load(&gate_);
  while ((gate & kOpen) != 0) {
    if (__atomic_compare_exchange_n(&gate_, &gate, gate + 1, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) return true;
  }
  return false;
}

void ThreadPool::Leave() {
  if (FetchAdd(&gate_, static_cast<uint32_t>(-1)) == 1 && Load(&caller_sleeps_) != 0) WakeAll(&gate_);
}

uint32_t ThreadPool::AwaitGeneration(uint32_t seen) {
  for (int spin = 0; spin < spins_; ++spin) {
    const uint32_t generation = Load(&generation_);
    if (generation != seen) return generation;
    Pause();
  }
  FetchAdd(&sleepers_, 1);
  while (Load(&generation_) == seen) SleepWhile(&generation_, seen);
  FetchAdd(&sleepers_, static_cast<uint32_t>(-1));
  return Load(&generation_);
}

void ThreadPool::Work(int thread) {
  uint32_t moves = 0;
  for (uint32_t generation = 0; Load(&stop_) == 0;) {
    generation = AwaitGeneration(generation);
    if (!TakeUnits()) continue;
    if (Enter()) {
      if (binder_ != nullptr) binder_->Follow(&moves);
      TakeSlices(thread);
      Leave();
    }
    GiveUnits();
  }
}

}  // namespace lathe

#endif  // LATHE_RUNTIME_THREAD_JOBS_H_
