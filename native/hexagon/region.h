// The kernel of device_region for the DSP.
#ifndef LATHE_HEXAGON_REGION_H_
#define LATHE_HEXAGON_REGION_H_

#include "native/hexagon/dsp.h"

namespace lathe {
namespace hexagon {

struct RegionState {
  Dsp* dsp;
  Part* part;
};
struct RegionPlan {
  size_t wished_bytes;  // of scratch memory
};
Code PreparePart(PrepareContext& context);
Code PlanPart(PlanContext& context);
void RunPart(const RunContext& context);

}  // namespace hexagon
}  // namespace lathe

#endif  // LATHE_HEXAGON_REGION_H_
