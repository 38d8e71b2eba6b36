// The vectors of the instruction set that this file is compiled for:
//
//   ByteVector     kBytes bytes; HalfWords: half as many words; Words: as many. NarrowSum and the like saturate
//   MulRound15     (a * b + 2^14) >> 15
//   Load2, 3, 4    kBytes pixels of 2, 3, 4 bytes, by channel; Store alike
//   Floats         kFloats floats
//
// LATHE_VISION_BYTES: there are vectors of bytes; else only floats.
#ifndef LATHE_VISION_WORDS_H_
#define LATHE_VISION_WORDS_H_

#if defined(__AVX2__)
#include "native/vision/words_avx2.h"
#elif defined(__ARM_NEON)
#include "native/vision/words_neon.h"
#else
#include "native/vision/words_portable.h"
#endif

#endif  // LATHE_VISION_WORDS_H_
