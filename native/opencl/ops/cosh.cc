#include "native/opencl/elementwise.h"

LATHE_OPENCL_UNIT(cosh) = {"cosh", "cosh", lathe::opencl::PlanUnary};
