// A part for a device, run by the processor: the region as it stands. What it gives is copied into the outputs.
#include "native/kernel/loops/whole_copy.h"

namespace lathe {
namespace {

Code CheckOutputs(const Reporter& reporter, const RegionTensors& body, int outputs) {
  if (body.input_count() != 0) return reporter.Fail(Code::kBadModel, "its region has inputs");
  if (body.output_count() != outputs)
    return reporter.Fail(Code::kBadModel, "its region has another number of outputs than the node");
  return Code::kOk;
}

Code Prepare(PrepareContext& context) {
  const RegionTensors body = context.region(0);
  LATHE_TRY(CheckOutputs(context, body, context.output_count()));
  for (int i = 0; i < context.output_count(); ++i) {
    if (body.output(i).dtype != context.output(i).dtype)
      return context.Fail(Code::kBadModel, "output %d has another type than what its region gives", i);
  }
  return Code::kOk;
}

Code PlanRun(PlanContext& context) {
  const RegionTensors body = context.region(0);
  for (int i = 0; i < context.output_count(); ++i) {
    if (body.output(i).shape != context.output(i).shape)
      return context.Fail(Code::kBadModel, "output %d has another shape than what its region gives", i);
  }
  return Code::kOk;
}

void Run(const RunContext& context) {
  if (!context.RunAsRegion(0)) return;
  const RegionTensors body = context.Region(0);
  for (int i = 0; i < context.output_count; ++i) MoveTensor(context, body.output(i), context.outputs[i]);
}

}  // namespace
}  // namespace lathe

LATHE_KERNEL = {
    .prepare = lathe::Prepare,
    .plan = lathe::PlanRun,
    .run = lathe::Run,
    .regions = 1,
};
