#include "native/opencl/elementwise.h"

LATHE_OPENCL_UNIT(sign) = {"sign", "sign", lathe::opencl::PlanUnary};
