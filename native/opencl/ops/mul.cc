#include "native/opencl/binary.h"

LATHE_OPENCL_UNIT(mul) = {"mul", "mul", lathe::opencl::PlanBinary};
