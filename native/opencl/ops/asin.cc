#include "native/opencl/elementwise.h"

LATHE_OPENCL_UNIT(asin) = {"asin", "asin", lathe::opencl::PlanUnary};
