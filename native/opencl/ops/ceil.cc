#include "native/opencl/elementwise.h"

LATHE_OPENCL_UNIT(ceil) = {"ceil", "ceil", lathe::opencl::PlanUnary};
