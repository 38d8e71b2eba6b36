// Loads that go on by a step in one instruction, on ARM: compilers load and add.
#ifndef LATHE_KERNEL_SIMD_LOAD_STEP_ARM_H_
#define LATHE_KERNEL_SIMD_LOAD_STEP_ARM_H_

#include <stdint.h>

#include "native/kernel/simd/simd.h"

namespace lathe {
namespace {

inline void LoadAndStep(const Element*& from, int64_t bytes, Vec* to) {
#if defined(LATHE_HALVES)
  asm volatile("ld1 {%0.8h}, [%1], %2" : "=w"(to->v), "+r"(from) : "r"(bytes) : "memory");
#elif defined(__aarch64__)
  asm volatile("ld1 {%0.4s}, [%1], %2" : "=w"(to->v), "+r"(from) : "r"(bytes) : "memory");
#else
  asm volatile("vld1.32 {%e0-%f0}, [%1], %2" : "=w"(to->v), "+r"(from) : "r"(static_cast<int32_t>(bytes)) : "memory");
#endif
}

}  // namespace
}  // namespace lathe

#endif  // LATHE_KERNEL_SIMD_LOAD_STEP_ARM_H_
