// The vectors of bytes of the instruction set that this file is compiled for.
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
