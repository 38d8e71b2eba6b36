#include "native/opencl/elementwise.h"

LATHE_OPENCL_UNIT(sinh) = {"sinh", "sinh", lathe::opencl::PlanUnary};
