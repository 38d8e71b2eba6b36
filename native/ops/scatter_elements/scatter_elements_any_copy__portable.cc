// Replaces elements of any type: no reduction.
#include "native/core/scatter_elements.h"

namespace lathe {
namespace {

Code Prepare(PrepareContext& context) { return PrepareScatterElements(context, false); }

void Run(const RunContext& context) {
  WithSizeOf(context.inputs[0].dtype,
             [&](auto* element) { RunScatterElements<typename Pointee<decltype(element)>::Type>(context); });
}

}  // namespace
}  // namespace lathe

LATHE_KERNEL(scatter_elements_any_copy__portable) = {"scatter_elements_any_copy__portable",
                                                     "scatter_elements",
                                                     sizeof(lathe::ScatterElementsState),
                                                     0,
                                                     0,
                                                     lathe::Prepare,
                                                     lathe::PlanScatterElements,
                                                     lathe::Run};
