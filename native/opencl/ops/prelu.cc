#include "native/opencl/binary.h"

LATHE_OPENCL_UNIT(prelu) = {"prelu", "prelu", lathe::opencl::PlanBinary};
