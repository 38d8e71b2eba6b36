#include "native/opencl/series.h"

LATHE_OPENCL_UNIT(softmax) = {"softmax", "softmax", lathe::opencl::PlanSoftmax};
