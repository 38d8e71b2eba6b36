#include "native/opencl/elementwise.h"

LATHE_OPENCL_UNIT(elu) = {"elu", "elu", lathe::opencl::PlanUnaryWithAlpha};
