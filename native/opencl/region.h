// The kernel of device_region.
#ifndef LATHE_OPENCL_REGION_H_
#define LATHE_OPENCL_REGION_H_

#include "native/opencl/runtime.h"

namespace lathe {
namespace opencl {

struct RegionState {
  Runtime* runtime;
  Part* part;
};
struct RegionPlan {
  SessionPart* part;
};
Code PreparePart(PrepareContext& context);
Code PlanPart(PlanContext& context);
void RunPart(const RunContext& context);

}  // namespace opencl
}  // namespace lathe

#endif  // LATHE_OPENCL_REGION_H_
