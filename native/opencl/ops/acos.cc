#include "native/opencl/elementwise.h"

LATHE_OPENCL_UNIT(acos) = {"acos", "acos", lathe::opencl::PlanUnary};
