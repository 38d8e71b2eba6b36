// Outputs that are read from an input by strides: transposes, slices, repetitions, blocks of space.
//
// The code is there once for each size of an element, not for each kernel, and a table says which sizes the library
// holds. The table that comes with the code holds all and is weak: the registry of a tailored library has one of its
// own, with the sizes that its models use, and the linker leaves out the rest.
#ifndef LATHE_KERNEL_LOOPS_STRIDED_COPY_H_
#define LATHE_KERNEL_LOOPS_STRIDED_COPY_H_

#include "native/runtime/kernel.h"

namespace lathe {

// An output read from an input by strides: y[i0, i1, ...] = x[offset + i0 * strides[0] + ...], all in elements.
struct StridedCopy {
  int32_t rank;
  int64_t offset;
  int64_t dims[kMaxRank];
  int64_t strides[kMaxRank];
};

// Drops axes of size 1 and merges axes that are walked as one. At least one axis stays.
void Simplify(StridedCopy* copy);

// In `prepare` of every kernel that calls RunStridedCopy: one type, whose size the library holds.
Code CheckStridedCopy(PrepareContext& context);
void RunStridedCopy(const RunContext& context, const StridedCopy& copy);

using StridedCopyFunction = void(const RunContext& context, const StridedCopy& copy);

// For elements of 1, 2, 4 and 8 bytes; null for what the library lacks.
struct StridedCopyTable {
  StridedCopyFunction* sizes[4];
};

}  // namespace lathe

extern "C" __attribute__((visibility("hidden"))) lathe::StridedCopyFunction lathe_strided_copy__1;
extern "C" __attribute__((visibility("hidden"))) lathe::StridedCopyFunction lathe_strided_copy__2;
extern "C" __attribute__((visibility("hidden"))) lathe::StridedCopyFunction lathe_strided_copy__4;
extern "C" __attribute__((visibility("hidden"))) lathe::StridedCopyFunction lathe_strided_copy__8;
extern "C" __attribute__((visibility("hidden"))) const lathe::StridedCopyTable lathe_strided_copies;

#endif  // LATHE_KERNEL_LOOPS_STRIDED_COPY_H_
