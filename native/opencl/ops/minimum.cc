#include "native/opencl/binary.h"

LATHE_OPENCL_UNIT(minimum) = {"minimum", "minimum", lathe::opencl::PlanBinary};
