#include "native/opencl/elementwise.h"

LATHE_OPENCL_UNIT(leaky_relu) = {"leaky_relu", "leaky_relu", lathe::opencl::PlanUnaryWithAlpha};
