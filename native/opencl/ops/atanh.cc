#include "native/opencl/elementwise.h"

LATHE_OPENCL_UNIT(atanh) = {"atanh", "atanh", lathe::opencl::PlanUnary};
