#include "native/opencl/elementwise.h"

LATHE_OPENCL_UNIT(tanh) = {"tanh", "tanh", lathe::opencl::PlanUnary};
