// Kernels that move elements without looking at them. They work on any element type by its size: 1, 2, 4 or 8 bytes.
#ifndef LATHE_KERNEL_LOOPS_COPY_H_
#define LATHE_KERNEL_LOOPS_COPY_H_

#include "native/kernel/check.h"
#include "native/kernel/loops/whole_copy.h"
#include "native/kernel/simd/copy_bytes.h"
#include "native/runtime/kernel.h"

namespace lathe {
namespace {

// `rows` stretches of `bytes` each, whose starts are `from_stride` and `to_stride` bytes apart. Nothing happens where
// source and target are the same memory.
inline void CopyRows(const RunContext& context, const void* from, int64_t from_stride, void* to, int64_t to_stride,
                     int64_t rows, int64_t bytes) {
  if (rows == 0 || bytes == 0 || from == to) return;
  const char* source = static_cast<const char*>(from);
  char* target = static_cast<char*>(to);
  if (rows == 1 || (from_stride == bytes && to_stride == bytes)) {
    context.For(rows * bytes, kCopyGrain, [=](int64_t begin, int64_t end, int) {
      memcpy(target + begin, source + begin, static_cast<size_t>(end - begin));
    });
    return;
  }
  const int64_t grain = kCopyGrain / (bytes < kCopyGrain ? bytes : kCopyGrain);
  context.For(rows, grain, [=](int64_t begin, int64_t end, int) {
    for (int64_t row = begin; row < end; ++row) {
      CopyBytes(target + row * to_stride, source + row * from_stride, bytes);
    }
  });
}

}  // namespace
}  // namespace lathe

#endif  // LATHE_KERNEL_LOOPS_COPY_H_
