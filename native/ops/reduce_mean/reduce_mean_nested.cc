// The mean of bytes over any axes. Sums are exact.
#include "native/kernel/loops/reduce.h"
#include "native/kernel/quantised/byte_sums.h"
#include "native/kernel/quantised/quantised_tensors.h"

namespace lathe {
namespace {

struct ByteMeansState {
  ReduceState reduce;  // stands first: PlanReduce reads it there
  ByteMeans means;
};

inline Code PrepareByteMeans(PrepareContext& context) {
  ByteMeansState& state = *static_cast<ByteMeansState*>(context.state());
  LATHE_TRY(PrepareReduce(context));
  ByteConversion conversion = {};
  LATHE_TRY(ReadConversion(context, context.input(0), context.output(0), &conversion));
  state.means = {conversion.zero, conversion.factor, conversion.steps};
  return Code::kOk;
}

inline Code PlanByteMeans(PlanContext& context) {
  LATHE_TRY(PlanReduce(context, false));
  const ReducePlan& plan = *static_cast<const ReducePlan*>(context.plan());
  return plan.count <= INT32_MAX / 256 ? Code::kOk
                                       : context.Fail(Code::kUnsupported, "it is a mean of too many numbers");
}

// Calls `f(row)` for the first element of every line along the last reduced axis.
template <typename F>
inline void ForLines(const ReducePlan& plan, const int8_t* from, const F& f) {
  int64_t outer = 1;
  for (int axis = 0; axis + 1 < plan.reduced_rank; ++axis) outer *= plan.reduced[axis].size;
  for (int64_t index = 0; index < outer; ++index) f(from + OuterOffset(plan.reduced, plan.reduced_rank, index));
}

inline int32_t SumOfElements(const ReducePlan& plan, const int8_t* from) {
  const Axes last = plan.reduced[plan.reduced_rank - 1];
  SixteenSums sums;
  int32_t rest = 0;
  ForLines(plan, from, [&](const int8_t* row) {
    int64_t j = 0;
    if (last.stride == 1) {
      for (; j + kStretch <= last.size; j += kStretch) sums.Add(row + j);
    }
    for (; j < last.size; ++j) rest += row[j * last.stride];
  });
  int32_t ints[kStretch];
  sums.StoreTo(ints);
  for (const int32_t sum : ints) rest += sum;
  return rest;
}

// `width` stretches of neighbouring outputs.
template <int width>
inline void RunMeans(const ReducePlan& plan, const ByteMeans& means, const int8_t* from, int8_t* to) {
  const Axes last = plan.reduced[plan.reduced_rank - 1];
  SixteenSums sums[width];
  ForLines(plan, from, [&](const int8_t* row) {
    for (int64_t j = 0; j < last.size; ++j, row += last.stride) {
#pragma GCC unroll 4
      for (int i = 0; i < width; ++i) sums[i].Add(row + i * kStretch);
    }
  });
  const int32_t count = static_cast<int32_t>(plan.count);
  for (int i = 0; i < width; ++i) {
    StoreMeans(means, sums[i], means.x_zero * count, static_cast<float>(count), to + i * kStretch);
  }
}

#if defined(__HVX__)

// Up to 128 neighbouring outputs.
inline void RunMeansOf(const ReducePlan& plan, const ByteMeans& means, const int8_t* from, int outputs, int8_t* to) {
  const Axes last = plan.reduced[plan.reduced_rank - 1];
  HvxByteSums sums;
  ForLines(plan, from, [&](const int8_t* row) {
    for (int64_t j = last.size; j > 0; --j, row += last.stride) sums.Add(LoadFew(row, outputs));
  });
  const int32_t count = static_cast<int32_t>(plan.count);
  StoreMeans(means, sums, means.x_zero * count, static_cast<float>(count), outputs, to);
}

#endif

void RunByteMeans(const RunContext& context) {
  const ReducePlan& plan = context.Plan<ReducePlan>();
  const ByteMeans means = context.State<ByteMeansState>().means;
  const int8_t* from = context.inputs[0].As<int8_t>();
  int8_t* to = context.outputs[0].As<int8_t>();
  const Axes last = plan.kept[plan.kept_rank - 1];
  const int32_t count = static_cast<int32_t>(plan.count);
  constexpr int64_t kWide = 4 * kStretch;
  const int64_t grain =
      plan.side_by_side ? (kElementGrain / (plan.count + 1) / kWide + 1) * kWide : kElementGrain / (plan.count + 1) + 1;
  context.For(context.outputs[0].shape.Count(), grain, [&](int64_t begin, int64_t end, int) {
    for (int64_t at = begin; at < end;) {
      const int64_t column = at % last.size;
      const int8_t* start = from + OuterOffset(plan.kept, plan.kept_rank, at / last.size) + column * last.stride;
      const int64_t left = last.size - column < end - at ? last.size - column : end - at;
#if defined(__HVX__)
      if (plan.side_by_side) {
        const int outputs = static_cast<int>(left < kHvxBytes ? left : kHvxBytes);
        RunMeansOf(plan, means, start, outputs, to + at);
        at += outputs;
        continue;
      }
#endif
      if (plan.side_by_side && left >= kWide) {
        RunMeans<4>(plan, means, start, to + at);
        at += kWide;
      } else if (plan.side_by_side && left >= 2 * kStretch) {
        RunMeans<2>(plan, means, start, to + at);
        at += 2 * kStretch;
      } else if (plan.side_by_side && left >= kStretch) {
        RunMeans<1>(plan, means, start, to + at);
        at += kStretch;
      } else {
        to[at++] = MeanOf(means, SumOfElements(plan, start), means.x_zero * count, static_cast<float>(count));
      }
    }
  });
}

constexpr KernelFunctions ByteMeansKernel() {
  return {
      .state_size = sizeof(ByteMeansState),
      .plan_size = sizeof(ReducePlan),
      .prepare = PrepareByteMeans,
      .plan = PlanByteMeans,
      .run = RunByteMeans,
  };
}

}  // namespace
}  // namespace lathe

LATHE_KERNEL = lathe::ByteMeansKernel();
