#include "native/opencl/binary.h"

LATHE_OPENCL_UNIT(maximum) = {"maximum", "maximum", lathe::opencl::PlanBinary};
