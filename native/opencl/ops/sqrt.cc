#include "native/opencl/elementwise.h"

LATHE_OPENCL_UNIT(sqrt) = {"sqrt", "sqrt", lathe::opencl::PlanUnary};
