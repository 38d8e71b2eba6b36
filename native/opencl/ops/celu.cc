#include "native/opencl/elementwise.h"

LATHE_OPENCL_UNIT(celu) = {"celu", "celu", lathe::opencl::PlanUnaryWithAlpha};
