#include "native/opencl/elementwise.h"

LATHE_OPENCL_UNIT(reciprocal) = {"reciprocal", "reciprocal", lathe::opencl::PlanUnary};
