// A border of a device_region that the CPU runs: the same elements. Nothing is moved where the output took over the
// input's memory.
#include "native/core/copy.h"

namespace lathe {
namespace {

Code Prepare(PrepareContext& context) {
  LATHE_TRY(CheckArity(context, 1, 1, 1));
  return CheckSameTypes(context);
}

Code PlanRun(PlanContext& context) { return CheckShape(context, 0, context.input(0).shape); }

}  // namespace
}  // namespace lathe

LATHE_KERNEL(to_device_any_copy__portable) = {
    "to_device_any_copy__portable", "to_device", 0, 0, 0, lathe::Prepare, lathe::PlanRun, lathe::RunWholeCopy};
