#include "native/opencl/elementwise.h"

LATHE_OPENCL_UNIT(round) = {"round", "round", lathe::opencl::PlanUnary};
