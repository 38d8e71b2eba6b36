#include "native/opencl/elementwise.h"

LATHE_OPENCL_UNIT(acosh) = {"acosh", "acosh", lathe::opencl::PlanUnary};
