// Replaces elements of any type: no reduction.
#include "native/kernel/loops/scatter_elements.h"

namespace lathe {
namespace {

Code Prepare(PrepareContext& context) { return PrepareScatterElements(context, false); }

void Run(const RunContext& context) {
  WithSizeOf(context.inputs[0].dtype,
             [&](auto* element) { RunScatterElements<typename Pointee<decltype(element)>::Type>(context); });
}

}  // namespace
}  // namespace lathe

LATHE_KERNEL = {
    .state_size = sizeof(lathe::ScatterElementsState),
    .prepare = lathe::Prepare,
    .plan = lathe::PlanScatterElements,
    .run = lathe::Run,
};
