#include "native/opencl/elementwise.h"

LATHE_OPENCL_UNIT(erf) = {"erf", "erf", lathe::opencl::PlanUnary};
