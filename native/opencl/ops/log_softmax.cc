#include "native/opencl/series.h"

LATHE_OPENCL_UNIT(log_softmax) = {"log_softmax", "log_softmax", lathe::opencl::PlanSoftmax};
