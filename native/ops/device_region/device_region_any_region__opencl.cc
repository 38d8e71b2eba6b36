// A part for a device, run by an OpenCL device. Where there is none it declines, and the processor runs the region.
#include "native/opencl/region.h"

LATHE_KERNEL(device_region_any_region__opencl) = {"device_region_any_region__opencl",
                                                  "device_region",
                                                  sizeof(lathe::opencl::RegionState),
                                                  sizeof(lathe::opencl::RegionPlan),
                                                  -1,
                                                  lathe::opencl::PreparePart,
                                                  lathe::opencl::PlanPart,
                                                  lathe::opencl::RunPart,
                                                  1,
                                                  0,
                                                  true};
