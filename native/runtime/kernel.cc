#include "native/runtime/kernel.h"

#include "native/runtime/threads.h"

namespace lathe {

int64_t Shape::Count() const { return Count(0, rank); }

int64_t Shape::Count(int begin, int end) const {
  int64_t count = 1;
  for (int axis = begin; axis < end; ++axis) count *= dims[axis];
  return count;
}

bool Shape::operator==(const Shape& other) const {
  if (rank != other.rank) return false;
  for (int axis = 0; axis < rank; ++axis) {
    if (dims[axis] != other.dims[axis]) return false;
  }
  return true;
}

void RunContext::Parallel(int64_t count, int64_t grain, ParallelBody body, void* argument) const {
  pool->Parallel(count, grain, body, argument);
}

}  // namespace lathe

// Vtables of abstract classes refer to this; the definition of the C++ library would be the only thing taken from it.
extern "C" __attribute__((visibility("hidden"), noreturn)) void __cxa_pure_virtual();
extern "C" void __cxa_pure_virtual() { __builtin_trap(); }
