#include "native/opencl/elementwise.h"

LATHE_OPENCL_UNIT(swish) = {"swish", "swish", lathe::opencl::PlanUnary};
