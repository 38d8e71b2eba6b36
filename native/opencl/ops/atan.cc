#include "native/opencl/elementwise.h"

LATHE_OPENCL_UNIT(atan) = {"atan", "atan", lathe::opencl::PlanUnary};
