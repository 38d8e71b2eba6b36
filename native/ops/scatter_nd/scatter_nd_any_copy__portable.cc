// Replaces elements of any type: no reduction.
#include "native/core/scatter_nd.h"

namespace lathe {
namespace {

Code Prepare(PrepareContext& context) { return PrepareScatterNd(context, false); }

void Run(const RunContext& context) {
  WithSizeOf(context.inputs[0].dtype,
             [&](auto* element) { RunScatterNd<typename Pointee<decltype(element)>::Type>(context); });
}

}  // namespace
}  // namespace lathe

LATHE_KERNEL(scatter_nd_any_copy__portable) = {"scatter_nd_any_copy__portable",
                                               "scatter_nd",
                                               sizeof(lathe::ScatterNdState),
                                               0,
                                               0,
                                               lathe::Prepare,
                                               lathe::PlanScatterNd,
                                               lathe::Run};
