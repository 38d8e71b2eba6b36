// A region, again and again. What one iteration gives is copied to where the next one reads it; what is scanned goes
// into a slice of the output, and never beyond the last one.
#include "native/kernel/control/region_borders.h"

namespace lathe {
namespace {

constexpr int kTrips = 0, kCondition = 1, kFirstCarried = 2;

struct State {
  bool sized;  // only the data decides how many iterations there are
};

struct Plan {
  int64_t most;  // iterations
};

int CarriedCount(int inputs) { return inputs - kFirstCarried; }

Code Prepare(PrepareContext& context) {
  if (context.input_count() < kFirstCarried) return context.Fail(Code::kBadModel, "has too few inputs");
  if (context.input(kTrips).dtype != DType::kS64) return context.Fail(Code::kBadModel, "its trip count is not s64");
  if (context.input(kCondition).dtype != DType::kBool)
    return context.Fail(Code::kBadModel, "its condition is not bool");
  Span<const int64_t> size;
  LATHE_TRY(context.Ints("size", &size));
  static_cast<State*>(context.state())->sized = !size.empty();
  const int carried = CarriedCount(context.input_count());
  const RegionTensors body = context.region(0);
  if (body.input_count() != carried + 1 || body.output_count() != context.output_count() + 1 ||
      context.output_count() < carried)
    return context.Fail(Code::kBadModel, "its region takes %d and gives %d values, which does not fit the node",
                        body.input_count(), body.output_count());
  if (body.input(0).dtype != DType::kS64) return context.Fail(Code::kBadModel, "the iteration's number is not s64");
  if (body.output(0).dtype != DType::kBool)
    return context.Fail(Code::kBadModel, "the condition that its region gives is not bool");
  for (int i = 0; i < context.output_count(); ++i) {
    const DType dtype = context.output(i).dtype;
    const bool fits =
        i >= carried || (context.input(kFirstCarried + i).dtype == dtype && body.input(i + 1).dtype == dtype);
    if (!fits || body.output(i + 1).dtype != dtype)
      return context.Fail(Code::kBadModel, "output %d has another element type than what its region gives", i);
  }
  return Code::kOk;
}

Code CheckCarried(const PlanContext& context, const RegionTensors& body, int index) {
  const Shape& shape = context.output(index).shape;
  if (context.input(kFirstCarried + index).shape == shape && body.input(index + 1).shape == shape &&
      body.output(index + 1).shape == shape)
    return Code::kOk;
  return context.Fail(Code::kBadModel, "carried value %d changes its shape", index);
}

Code CheckScanned(const PlanContext& context, const RegionTensors& body, int index, int64_t most) {
  const Shape& all = context.output(index).shape;
  const Shape& slice = body.output(index + 1).shape;
  bool fits = all.rank == slice.rank + 1;
  for (int axis = 0; fits && axis < slice.rank; ++axis) fits = all[axis + 1] == slice[axis];
  if (!fits) return context.Fail(Code::kBadModel, "output %d does not consist of what its region gives", index);
  if (all[0] < most) return context.Fail(Code::kBadModel, "output %d has no room for all iterations", index);
  return Code::kOk;
}

Code PlanRun(PlanContext& context) {
  const RegionTensors body = context.region(0);
  LATHE_TRY(CheckSingle(context, context.input(kTrips), "trip count"));
  LATHE_TRY(CheckSingle(context, context.input(kCondition), "condition"));
  LATHE_TRY(CheckSingle(context, body.input(0), "iteration's number"));
  LATHE_TRY(CheckSingle(context, body.output(0), "region's condition"));
  Span<const int64_t> most;
  LATHE_TRY(context.Dims("most", &most));
  if (most.size() > 1) return context.Fail(Code::kBadModel, "attribute 'most' has more than one element");
  auto* plan = static_cast<Plan*>(context.plan());
  plan->most = most.empty() ? INT64_MAX : most[0];
  for (int i = 0; i < context.output_count(); ++i) {
    LATHE_TRY(i < CarriedCount(context.input_count()) ? CheckCarried(context, body, i)
                                                      : CheckScanned(context, body, i, plan->most));
  }
  return Code::kOk;
}

// Slice `index` of what is scanned.
void Append(const RunContext& context, const Tensor& slice, Tensor& all, int64_t index) {
  if (index >= all.shape[0]) return;
  const int64_t room = BytesOf(all) / all.shape[0];
  const int64_t bytes = BytesOf(slice) < room ? BytesOf(slice) : room;
  CopyRows(context, slice.data, bytes, all.As<char>() + index * room, bytes, 1, bytes);
}

// Outputs are as long as there were iterations. In those whose length the model claims to know, the rest is zero.
void Finish(const RunContext& context, Tensor& all, int64_t done) {
  if (done >= all.shape[0]) return;
  if (context.State<State>().sized) {
    all.shape.dims[0] = done;
    return;
  }
  const int64_t room = BytesOf(all) / all.shape[0];
  memset(all.As<char>() + done * room, 0, static_cast<size_t>((all.shape[0] - done) * room));
}

void Run(const RunContext& context) {
  const RegionTensors body = context.Region(0);
  const int carried = CarriedCount(context.input_count);
  const int64_t trips = *context.inputs[kTrips].As<int64_t>();
  const int64_t most = trips < context.Plan<Plan>().most ? trips : context.Plan<Plan>().most;
  bool goes_on = IsTrue(context.inputs[kCondition]);
  for (int i = 0; i < carried; ++i) MoveTensor(context, context.inputs[kFirstCarried + i], body.input(i + 1));
  int64_t done = 0;
  for (; goes_on && done < most; ++done) {
    *static_cast<int64_t*>(body.input(0).data) = done;
    if (!context.RunRegion(0)) return;
    goes_on = IsTrue(body.output(0));
    for (int i = 0; i < carried; ++i) MoveTensor(context, body.output(i + 1), body.input(i + 1));
    for (int i = carried; i < context.output_count; ++i) Append(context, body.output(i + 1), context.outputs[i], done);
  }
  for (int i = 0; i < carried; ++i) MoveTensor(context, body.input(i + 1), context.outputs[i]);
  for (int i = carried; i < context.output_count; ++i) Finish(context, context.outputs[i], done);
}

}  // namespace
}  // namespace lathe

LATHE_KERNEL = {
    .state_size = sizeof(lathe::State),
    .plan_size = sizeof(lathe::Plan),
    .prepare = lathe::Prepare,
    .plan = lathe::PlanRun,
    .run = lathe::Run,
    .regions = 1,
};
