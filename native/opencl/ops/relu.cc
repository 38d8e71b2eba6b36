#include "native/opencl/elementwise.h"

LATHE_OPENCL_UNIT(relu) = {"relu", "relu", lathe::opencl::PlanUnary};
