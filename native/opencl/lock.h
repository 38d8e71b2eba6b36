// A lock whose waiters sleep. A pthread mutex would do too, but core/sleep.h is there already.
#ifndef LATHE_OPENCL_LOCK_H_
#define LATHE_OPENCL_LOCK_H_

#include <stdint.h>

#include "native/core/sleep.h"
#include "native/core/span.h"

namespace lathe::opencl {

class Lock {
 public:
  LATHE_INLINE void Take() {
    uint32_t free = kFree;
    if (__atomic_compare_exchange_n(&word_, &free, kTaken, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) return;
    // Who has slept cannot know whether others still do, and leaves the word saying so.
    while (__atomic_exchange_n(&word_, kAwaited, __ATOMIC_SEQ_CST) != kFree) SleepWhile(&word_, kAwaited);
  }
  LATHE_INLINE void Release() {
    if (__atomic_exchange_n(&word_, kFree, __ATOMIC_SEQ_CST) == kAwaited) WakeAll(&word_);
  }

 private:
  static constexpr uint32_t kFree = 0, kTaken = 1, kAwaited = 2;

  uint32_t word_ = kFree;
};

// Holds a lock as long as it lives.
class Locked {
 public:
  LATHE_INLINE explicit Locked(Lock* lock) : lock_(lock) { lock_->Take(); }
  LATHE_INLINE ~Locked() { lock_->Release(); }
  Locked(const Locked&) = delete;
  Locked& operator=(const Locked&) = delete;

 private:
  Lock* lock_;
};

}  // namespace lathe::opencl

#endif  // LATHE_OPENCL_LOCK_H_
