// A lock whose waiters sleep. A pthread mutex would do too, but core/sleep.h is there already.
#ifndef LATHE_OPENCL_LOCK_H_
#define LATHE_OPENCL_LOCK_H_

#include <stdint.h>

#include "native/runtime/span.h"

namespace lathe::opencl {

class Lock {
 public:
  void Take();
  void Release();

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
