#include "native/opencl/elementwise.h"

LATHE_OPENCL_UNIT(sin) = {"sin", "sin", lathe::opencl::PlanUnary};
