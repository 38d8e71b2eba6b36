// A part for a device, run by an OpenCL device. Where there is none it declines, and the processor runs the region.
#include "native/opencl/region.h"

LATHE_KERNEL = {
    .state_size = sizeof(lathe::opencl::RegionState),
    .plan_size = sizeof(lathe::opencl::RegionPlan),
    .prepare = lathe::opencl::PreparePart,
    .plan = lathe::opencl::PlanPart,
    .run = lathe::opencl::RunPart,
    .regions = 1,
    .takes_regions = true,
};
