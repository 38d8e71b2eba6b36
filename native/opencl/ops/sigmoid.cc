#include "native/opencl/elementwise.h"

LATHE_OPENCL_UNIT(sigmoid) = {"sigmoid", "sigmoid", lathe::opencl::PlanUnary};
