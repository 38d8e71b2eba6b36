// Vectors of 16-bit integers and of their 32-bit sums, for the instruction set that this file is compiled for.
#ifndef LATHE_KERNEL_SIMD_WORDS_H_
#define LATHE_KERNEL_SIMD_WORDS_H_

#if defined(LATHE_ISA_AVX2)
#include "native/kernel/simd/words_avx2.h"
#elif defined(LATHE_ISA_SIMD128)
#include "native/kernel/simd/words_simd128.h"
#elif defined(LATHE_ISA_NEON) || defined(LATHE_ISA_NEONV7)
#include "native/kernel/simd/words_neon.h"
#else
#include "native/kernel/simd/words_portable.h"
#endif

#endif  // LATHE_KERNEL_SIMD_WORDS_H_
