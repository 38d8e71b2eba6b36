// The vectors of the instruction set that this file is compiled for; vector_portable.h says what each of them offers.
//
// Files that are compiled once per instruction set know which one: LATHE_ISA is its word, which is also the inline
// namespace of what exists once for it, and LATHE_ISA_<WORD> is defined. The build writes both from op.yaml and from
// units.yaml (buildtool/codegen/kernel_units.py). Other files get the portable vectors.
#ifndef LATHE_KERNEL_SIMD_SIMD_H_
#define LATHE_KERNEL_SIMD_SIMD_H_

#include "native/runtime/kernel.h"

#if defined(__clang__)
#pragma clang diagnostic ignored "-Wpass-failed"  // Clang reports each loop that it does not unroll although asked to
#endif

#ifndef LATHE_ISA
#define LATHE_ISA portable
#endif

#if defined(LATHE_ISA_AVX512) || defined(LATHE_ISA_VNNI)
#include "native/kernel/simd/vector_avx512.h"
#elif defined(LATHE_ISA_AVX2)
#include "native/kernel/simd/vector_avx2.h"
#elif defined(LATHE_ISA_SIMD128)
#include "native/kernel/simd/vector_simd128.h"
#elif defined(LATHE_ISA_FP16) && !defined(LATHE_WIDEN_HALVES)
#include "native/kernel/simd/vector_fp16.h"
#elif defined(LATHE_ISA_FP16) || defined(LATHE_ISA_NEON) || defined(LATHE_ISA_NEONV7) || defined(LATHE_ISA_DOTPROD) || \
    defined(LATHE_ISA_I8MM)
#include "native/kernel/simd/vector_neon.h"
#elif defined(LATHE_ISA_RVV)
#include "native/kernel/simd/vector_rvv.h"
#else
#include "native/kernel/simd/vector_portable.h"
#endif

namespace lathe {
namespace {

// The type of tensors whose elements the vectors hold.
constexpr DType kElementType = sizeof(Element) == 2 ? DType::kF16 : DType::kF32;

}  // namespace
}  // namespace lathe

#endif  // LATHE_KERNEL_SIMD_SIMD_H_
