// Replaces elements of any type: no reduction.
#include "native/kernel/loops/scatter_nd.h"

namespace lathe {
namespace {

Code Prepare(PrepareContext& context) { return PrepareScatterNd(context, false); }

void Run(const RunContext& context) {
  WithSizeOf(context.inputs[0].dtype,
             [&](auto* element) { RunScatterNd<typename Pointee<decltype(element)>::Type>(context); });
}

}  // namespace
}  // namespace lathe

LATHE_KERNEL = {
    .state_size = sizeof(lathe::ScatterNdState),
    .prepare = lathe::Prepare,
    .plan = lathe::PlanScatterNd,
    .run = lathe::Run,
};
