// The clock of events.
#ifndef LATHE_RUNTIME_CLOCK_H_
#define LATHE_RUNTIME_CLOCK_H_

#include <stdint.h>
#include <time.h>

namespace lathe {

// 0 where there is no clock.
inline int64_t NowNanoseconds() {
  timespec now = {};
  if (clock_gettime(CLOCK_MONOTONIC, &now) != 0) return 0;
  return static_cast<int64_t>(now.tv_sec) * 1000000000 + now.tv_nsec;
}

}  // namespace lathe

#endif  // LATHE_RUNTIME_CLOCK_H_
