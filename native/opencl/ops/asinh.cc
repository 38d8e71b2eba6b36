#include "native/opencl/elementwise.h"

LATHE_OPENCL_UNIT(asinh) = {"asinh", "asinh", lathe::opencl::PlanUnary};
