#include "native/opencl/elementwise.h"

LATHE_OPENCL_UNIT(abs) = {"abs", "abs", lathe::opencl::PlanUnary};
