#include "native/opencl/elementwise.h"

LATHE_OPENCL_UNIT(exp) = {"exp", "exp", lathe::opencl::PlanUnary};
