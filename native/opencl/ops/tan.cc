#include "native/opencl/elementwise.h"

LATHE_OPENCL_UNIT(tan) = {"tan", "tan", lathe::opencl::PlanUnary};
