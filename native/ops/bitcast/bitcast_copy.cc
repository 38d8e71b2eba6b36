// The same bytes read as another element type of the same size; nothing is moved where the memory is shared.
#include "native/kernel/loops/copy.h"

namespace lathe {
namespace {

Code Prepare(PrepareContext& context) {
  LATHE_TRY(CheckArity(context, 1, 1, 1));
  const DType to = context.output(0).dtype;
  int64_t stated = 0;
  LATHE_TRY(context.Int("to", &stated));
  if (stated != static_cast<int64_t>(to)) {
    return context.Fail(Code::kBadModel, "attribute 'to' is not the type of its output");
  }
  if (SizeOf(to) == 0 || SizeOf(to) != SizeOf(context.input(0).dtype)) {
    return context.Fail(Code::kBadModel, "input and output differ in the size of their elements");
  }
  return Code::kOk;
}

Code PlanRun(PlanContext& context) { return CheckShape(context, 0, context.input(0).shape); }

}  // namespace
}  // namespace lathe

LATHE_KERNEL = {
    .prepare = lathe::Prepare,
    .plan = lathe::PlanRun,
    .run = lathe::RunWholeCopy,
};
