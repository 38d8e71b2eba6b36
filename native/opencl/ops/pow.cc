#include "native/opencl/binary.h"

LATHE_OPENCL_UNIT(pow) = {"pow", "pow", lathe::opencl::PlanBinary};
