// Threads that sleep until a word changes.
//
// On Linux and Android by the system call itself: a condition variable would need a mutex beside it, costs a kilobyte
// more, and those of glibc before 2.41 now and then lose a wake-up for ever where several threads wait in turn.
#ifndef LATHE_RUNTIME_FUTEX_H_
#define LATHE_RUNTIME_FUTEX_H_

#include <stdint.h>

#if defined(__linux__)
#include <limits.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>
#else
#include <time.h>
#endif

namespace lathe {

#if defined(__wasm_atomics__)
constexpr bool kCallersSleep = false;  // the thread of a page must not
#else
constexpr bool kCallersSleep = true;
#endif

#if defined(__linux__)

// Returns when woken, at once where `*word` is not `value`, and now and then for no reason.
inline void SleepWhile(uint32_t* word, uint32_t value) {
  syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, value, nullptr, nullptr, 0);
}
inline void WakeAll(uint32_t* word) { syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, INT_MAX, nullptr, nullptr, 0); }

#elif defined(__hexagon__)

// See native/hexagon/program/threads.cc.
void SleepWhile(uint32_t* word, uint32_t value);
void WakeAll(uint32_t* word);

#elif defined(__wasm_atomics__)

inline void SleepWhile(uint32_t* word, uint32_t value) {
  __builtin_wasm_memory_atomic_wait32(reinterpret_cast<int*>(word), static_cast<int>(value), -1);
}
inline void WakeAll(uint32_t* word) { __builtin_wasm_memory_atomic_notify(reinterpret_cast<int*>(word), UINT32_MAX); }

#else

// Systems without such a call look again after a while.
inline void SleepWhile(uint32_t*, uint32_t) {
  const timespec while_ = {0, 100000};
  nanosleep(&while_, nullptr);
}
inline void WakeAll(uint32_t*) {}

#endif

}  // namespace lathe

#endif  // LATHE_RUNTIME_FUTEX_H_
