#include "native/opencl/lock.h"

#include "native/runtime/futex.h"

namespace lathe::opencl {

void Lock::Take() {
  uint32_t free = kFree;
  if (__atomic_compare_exchange_n(&word_, &free, kTaken, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) return;
  // Who has slept cannot know whether others still do, and leaves the word saying so.
  while (__atomic_exchange_n(&word_, kAwaited, __ATOMIC_SEQ_CST) != kFree) SleepWhile(&word_, kAwaited);
}

void Lock::Release() {
  if (__atomic_exchange_n(&word_, kFree, __ATOMIC_SEQ_CST) == kAwaited) WakeAll(&word_);
}

}  // namespace lathe::opencl
