// A thread's right to the vectors of the DSP.
#ifndef LATHE_HEXAGON_PROGRAM_VECTORS_H_
#define LATHE_HEXAGON_PROGRAM_VECTORS_H_

#include "native/hexagon/program/qurt.h"

namespace lathe {
namespace hexagon {

inline bool LockVectors() {
  constexpr int k128Bytes = 1;
  return qurt_hvx_lock == nullptr || qurt_hvx_lock(k128Bytes) == 0;
}
inline void UnlockVectors() {
  if (qurt_hvx_unlock != nullptr) qurt_hvx_unlock();
}

// While it lives, the thread has them, unless the system refused it.
class Vectors {
 public:
  Vectors() : held_(LockVectors()) {}
  ~Vectors() {
    if (held_) UnlockVectors();
  }
  Vectors(const Vectors&) = delete;
  Vectors& operator=(const Vectors&) = delete;

 private:
  bool held_;
};

}  // namespace hexagon
}  // namespace lathe

#endif  // LATHE_HEXAGON_PROGRAM_VECTORS_H_
