#include "native/opencl/elementwise.h"

LATHE_OPENCL_UNIT(hard_swish) = {"hard_swish", "hard_swish", lathe::opencl::PlanUnary};
