#include "native/opencl/elementwise.h"

LATHE_OPENCL_UNIT(floor) = {"floor", "floor", lathe::opencl::PlanUnary};
