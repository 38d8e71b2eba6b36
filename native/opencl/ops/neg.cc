#include "native/opencl/elementwise.h"

LATHE_OPENCL_UNIT(neg) = {"neg", "neg", lathe::opencl::PlanUnary};
