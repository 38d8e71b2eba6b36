#include "native/opencl/elementwise.h"

LATHE_OPENCL_UNIT(softsign) = {"softsign", "softsign", lathe::opencl::PlanUnary};
