#include "native/opencl/elementwise.h"

LATHE_OPENCL_UNIT(mish) = {"mish", "mish", lathe::opencl::PlanUnary};
