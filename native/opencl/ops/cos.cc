#include "native/opencl/elementwise.h"

LATHE_OPENCL_UNIT(cos) = {"cos", "cos", lathe::opencl::PlanUnary};
