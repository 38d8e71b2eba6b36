// One of two regions, by a condition. What the region gives is copied into the outputs.
#include "native/kernel/control/region_borders.h"

namespace lathe {
namespace {

struct State {
  bool sized;  // the outputs have sizes that differ between the regions
};

Code CheckBranch(const PrepareContext& context, const RegionTensors& branch) {
  if (branch.input_count() != 0) return context.Fail(Code::kBadModel, "a region of it has inputs");
  if (branch.output_count() != context.output_count())
    return context.Fail(Code::kBadModel, "a region has %d outputs, the node %d", branch.output_count(),
                        context.output_count());
  for (int i = 0; i < context.output_count(); ++i) {
    if (branch.output(i).dtype != context.output(i).dtype)
      return context.Fail(Code::kBadModel, "output %d of a region has another element type than the node's", i);
    if (branch.output(i).shape.rank != context.output(i).shape.rank)
      return context.Fail(Code::kBadModel, "output %d of a region has another rank than the node's", i);
  }
  return Code::kOk;
}

Code Prepare(PrepareContext& context) {
  if (context.input_count() != 1) return context.Fail(Code::kBadModel, "does not have one input");
  if (context.input(0).dtype != DType::kBool) return context.Fail(Code::kBadModel, "its condition is not bool");
  Span<const int64_t> sizes;
  LATHE_TRY(context.Ints("sizes", &sizes));
  static_cast<State*>(context.state())->sized = !sizes.empty();
  LATHE_TRY(CheckBranch(context, context.region(0)));
  return CheckBranch(context, context.region(1));
}

Code PlanRun(PlanContext& context) {
  LATHE_TRY(CheckSingle(context, context.input(0), "condition"));
  const bool sized = static_cast<const State*>(context.state())->sized;
  for (int region = 0; region < 2; ++region) {
    for (int i = 0; i < context.output_count(); ++i) {
      const Shape& given = context.region(region).output(i).shape;
      const Shape& room = context.output(i).shape;
      for (int axis = 0; axis < room.rank; ++axis) {
        if (sized ? given[axis] > room[axis] : given[axis] != room[axis])
          return context.Fail(Code::kBadModel, "output %d of a region has another shape than the node's", i);
      }
    }
  }
  return Code::kOk;
}

void Run(const RunContext& context) {
  const int taken = IsTrue(context.inputs[0]) ? 0 : 1;
  if (!context.RunRegion(taken)) return;
  const RegionTensors branch = context.Region(taken);
  for (int i = 0; i < context.output_count; ++i) {
    Tensor& output = context.outputs[i];
    MoveTensor(context, branch.output(i), output);
    if (context.State<State>().sized && BytesOf(branch.output(i)) <= BytesOf(output))
      output.shape = branch.output(i).shape;
  }
}

}  // namespace
}  // namespace lathe

LATHE_KERNEL = {
    .state_size = sizeof(lathe::State),
    .prepare = lathe::Prepare,
    .plan = lathe::PlanRun,
    .run = lathe::Run,
    .regions = 2,
};
