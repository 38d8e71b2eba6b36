#include "native/opencl/elementwise.h"

LATHE_OPENCL_UNIT(softplus) = {"softplus", "softplus", lathe::opencl::PlanUnary};
