// Bytes on AVX-512 with VNNI.
#ifndef LATHE_CORE_BYTES_VNNI_H_
#define LATHE_CORE_BYTES_VNNI_H_

#include <immintrin.h>

#define LATHE_VECTORS vnni

#endif  // LATHE_CORE_BYTES_VNNI_H_
