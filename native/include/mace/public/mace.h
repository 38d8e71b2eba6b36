// The C++ interface of MACE 1.0, for programs that were written for it: headers alone, over the C table of
// lathe/c_api.h, for C++11 and later. docs/how-to/mace.md says what is the same and what is not. Lathe is not
// affiliated with MACE, and reads models that Lathe has converted, not those of MACE.
//
// The include folder of a build belongs to its library (mace/bound_library.h): functions here that create engines look
// for kernels in that library, and in those whose mace_engine_factory.h the same source file includes.
//
// Nothing here aborts or throws: what is wrong comes back as a MaceStatus whose text says what, where and why. The only
// thing that is printed unasked is a warning where a GPU was asked for and the CPU computes.
#ifndef MACE_PUBLIC_MACE_H_
#define MACE_PUBLIC_MACE_H_

#include "mace/face/interface.h"

#include "mace/face/create.h"

// After all else: it needs what stands above.
#include "mace/bound_library.h"

#endif  // MACE_PUBLIC_MACE_H_
