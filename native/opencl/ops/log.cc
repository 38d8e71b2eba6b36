#include "native/opencl/elementwise.h"

LATHE_OPENCL_UNIT(log) = {"log", "log", lathe::opencl::PlanUnary};
