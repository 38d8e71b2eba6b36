// A part for a device, run by Qualcomm's DSP. Where there is none it declines, and the processor runs the region.
#include "native/hexagon/region.h"

LATHE_KERNEL = {
    .state_size = sizeof(lathe::hexagon::RegionState),
    .plan_size = sizeof(lathe::hexagon::RegionPlan),
    .prepare = lathe::hexagon::PreparePart,
    .plan = lathe::hexagon::PlanPart,
    .run = lathe::hexagon::RunPart,
    .regions = 1,
    .takes_regions = true,
};
