#include "native/opencl/elementwise.h"

LATHE_OPENCL_UNIT(thresholded_relu) = {"thresholded_relu", "thresholded_relu", lathe::opencl::PlanUnaryWithAlpha};
