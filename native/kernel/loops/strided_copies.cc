// The sizes of elements that a library holds, if it is not tailored: all. No code that asks for them may be here: the
// compiler would answer with those of this file.
#include "native/kernel/loops/strided_copy.h"

extern "C" __attribute__((weak)) const lathe::StridedCopyTable lathe_strided_copies = {
    {lathe_strided_copy__1, lathe_strided_copy__2, lathe_strided_copy__4, lathe_strided_copy__8}};
