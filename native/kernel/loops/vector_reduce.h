// Reductions of floats on vectors.
//
// A fold is a struct of static functions: `float Initial()`, `Vec Add(Vec, Vec)` and `double Add(double, double)`,
// which must not care about order beyond rounding, and `float Result(double, int64_t count)`; `kEmptyAllowed` says
// whether the fold of nothing has a value. Some hundred elements at most are folded as floats, those results as
// doubles. How the elements are cut into such parts follows from the shape alone.
#ifndef LATHE_KERNEL_LOOPS_VECTOR_REDUCE_H_
#define LATHE_KERNEL_LOOPS_VECTOR_REDUCE_H_

#include "native/kernel/loops/reduce.h"
#include "native/kernel/simd/simd.h"

namespace lathe {
namespace {

constexpr int64_t kFoldTile = 512;      // neighbouring outputs of one item of work
constexpr int64_t kFoldRows = 128;      // rows that are folded as floats
constexpr int64_t kFoldItem = 8192;     // elements that are worth an item
constexpr int64_t kMostFoldItems = 64;  // of those that share outputs
constexpr int kFoldStrip = 8;           // vectors that are folded side by side

struct FoldPlan {
  ReducePlan nest;  // stands first: PlanReduce writes it there
  int64_t tile;     // outputs of an item
  int64_t tiles;    // per row of outputs
  int64_t items;    // all tiles
  int64_t chunks;   // items that share a tile
  int64_t chunk;    // of the folded positions
};

inline Code PlanFold(PlanContext& context, bool empty_allowed) {
  LATHE_TRY(PlanReduce(context, empty_allowed));
  FoldPlan& plan = *static_cast<FoldPlan*>(context.plan());
  const int64_t width = plan.nest.side_by_side ? plan.nest.kept[plan.nest.kept_rank - 1].size : 1;
  const int64_t outputs = context.output(0).shape.Count();
  plan.chunks = 1;
  plan.chunk = plan.nest.count;
  if (outputs == 0) return Code::kOk;
  plan.tile = width < kFoldTile ? width : kFoldTile;
  plan.tiles = (width + plan.tile - 1) / plan.tile;
  plan.items = outputs / width * plan.tiles;
  const int64_t worthwhile = plan.nest.count / (kFoldItem / plan.tile);
  const int64_t most = kMostFoldItems / plan.items;
  const int64_t chunks = worthwhile < most ? worthwhile : most;
  if (chunks < 2) return Code::kOk;
  plan.chunk = (plan.nest.count + chunks - 1) / chunks;
  plan.chunks = (plan.nest.count + plan.chunk - 1) / plan.chunk;
  return RequestScratch(context, plan.items * plan.chunks * plan.tile * static_cast<int64_t>(sizeof(double)));
}

template <typename Fold>
struct VectorReduce {
  static Code Prepare(PrepareContext& context) {
    LATHE_TRY(PrepareReduce(context));
    return CheckAllTypes(context, DType::kF32);
  }

  static Code Plan(PlanContext& context) { return PlanFold(context, Fold::kEmptyAllowed); }

  // `width` whole vectors of neighbours, or one of `count` lanes, down some rows.
  template <int width, bool whole>
  static void FoldStrip(const float* from, int64_t stride, int64_t rows, int count, double* sums) {
    Vec parts[width];
    for (int i = 0; i < width; ++i) parts[i] = Fill(Fold::Initial());
    for (int64_t row = 0; row < rows; ++row, from += stride) {
#pragma GCC unroll 8
      for (int i = 0; i < width; ++i) {
        parts[i] = Fold::Add(parts[i], whole ? Load(from + i * kLanes) : LoadPart(from, count));
      }
    }
    float lanes[width * kLanes];
#pragma GCC unroll 8
    for (int i = 0; i < width; ++i) Store(lanes + i * kLanes, parts[i]);
    for (int i = 0; i < (whole ? width * kLanes : count); ++i) {
      sums[i] = Fold::Add(sums[i], static_cast<double>(lanes[i]));
    }
  }

  static void FoldRows(const float* from, int64_t stride, int64_t rows, int64_t width, double* sums) {
    constexpr int kWide = kFoldStrip * kLanes;
    int64_t i = 0;
    for (; i + kWide <= width; i += kWide) FoldStrip<kFoldStrip, true>(from + i, stride, rows, 0, sums + i);
    for (; i + kLanes <= width; i += kLanes) FoldStrip<1, true>(from + i, stride, rows, 0, sums + i);
    if (i < width) FoldStrip<1, false>(from + i, stride, rows, static_cast<int>(width - i), sums + i);
  }

  // All lanes of one vector: its halves, the halves of the result and so on.
  static float FoldLanes(Vec x) {
    float lanes[2 * kLanes] = {};  // behind the first half stands what no result is made of
#pragma GCC unroll 4
    for (int step = kLanes / 2; step > 0; step /= 2) {
      Store(lanes, x);
      x = Fold::Add(x, Load(lanes + step));
    }
    Store(lanes, x);
    return lanes[0];
  }

  // Contiguous elements, at most kFoldRows vectors side by side at a time.
  static __attribute__((noinline)) double FoldLine(const float* from, int64_t count, double sum) {
    constexpr int64_t kMost = kFoldRows * 4 * kLanes;
    while (count > 0) {
      const int64_t size = count < kMost ? count : kMost;
      Vec parts[4];
      for (Vec& part : parts) part = Fill(Fold::Initial());
      int64_t i = 0;
      for (; i + 4 * kLanes <= size; i += 4 * kLanes) {
#pragma GCC unroll 4
        for (int j = 0; j < 4; ++j) parts[j] = Fold::Add(parts[j], Load(from + i + j * kLanes));
      }
      for (; i + kLanes <= size; i += kLanes) parts[0] = Fold::Add(parts[0], Load(from + i));
      if (i < size) {
        float rest[kLanes];
        Store(rest, Fill(Fold::Initial()));
        for (int64_t j = 0; i + j < size; ++j) rest[j] = from[i + j];
        parts[1] = Fold::Add(parts[1], Load(rest));
      }
      const Vec all = Fold::Add(Fold::Add(parts[0], parts[1]), Fold::Add(parts[2], parts[3]));
      sum = Fold::Add(sum, static_cast<double>(FoldLanes(all)));
      from += size;
      count -= size;
    }
    return sum;
  }

  // The folded positions [begin, end) of `width` neighbouring outputs.
  static void FoldTile(const ReducePlan& nest, const float* from, int64_t begin, int64_t end, int64_t width,
                       double* sums) {
    for (int64_t i = 0; i < width; ++i) sums[i] = static_cast<double>(Fold::Initial());
    const Axes last = nest.reduced[nest.reduced_rank - 1];
    for (int64_t at = begin; at < end;) {
      const int64_t column = at % last.size;
      const float* start = from + OuterOffset(nest.reduced, nest.reduced_rank, at / last.size) + column * last.stride;
      int64_t count = last.size - column < end - at ? last.size - column : end - at;
      if (!nest.side_by_side) {
        sums[0] = FoldLine(start, count, sums[0]);
      } else {
        if (count > kFoldRows) count = kFoldRows;
        FoldRows(start, last.stride, count, width, sums);
      }
      at += count;
    }
  }

  static void Run(const RunContext& context) {
    const FoldPlan& plan = context.template Plan<FoldPlan>();
    const ReducePlan& nest = plan.nest;
    const float* from = context.inputs[0].As<float>();
    float* to = context.outputs[0].As<float>();
    double* scratch = static_cast<double*>(context.scratch);
    if (context.outputs[0].shape.Count() == 0) return;
    const Axes last = nest.kept[nest.kept_rank - 1];
    // Contiguous lines, each of which becomes an output.
    const bool lines = nest.kept_rank == 1 && nest.reduced_rank == 1 && !nest.side_by_side && plan.chunks == 1;
    const int64_t row = nest.side_by_side ? last.size : 1;
    const auto width_of = [&](int64_t item) {
      const int64_t left = row - item % plan.tiles * plan.tile;
      return left < plan.tile ? left : plan.tile;
    };
    const auto output_of = [&](int64_t item) { return item / plan.tiles * row + item % plan.tiles * plan.tile; };
    const int64_t size = plan.tile * plan.chunk;
    context.For(plan.items * plan.chunks, size < kFoldItem ? kFoldItem / (size + 1) + 1 : 1,
                [&](int64_t begin, int64_t end, int) {
                  double sums[kFoldTile];
                  for (int64_t at = begin; at < end; ++at) {
                    if (lines) {
                      sums[0] = FoldLine(from + at * last.stride, nest.count, static_cast<double>(Fold::Initial()));
                      to[at] = Fold::Result(sums[0], nest.count);
                      continue;
                    }
                    const int64_t item = at / plan.chunks;
                    const int64_t first = at % plan.chunks * plan.chunk;
                    const int64_t behind = first + plan.chunk < nest.count ? first + plan.chunk : nest.count;
                    const int64_t output = output_of(item);
                    const float* start = from + OuterOffset(nest.kept, nest.kept_rank, output / last.size) +
                                         output % last.size * last.stride;
                    const int64_t width = width_of(item);
                    double* folded = plan.chunks == 1 ? sums : scratch + at * plan.tile;
                    FoldTile(nest, start, first, behind, width, folded);
                    for (int64_t i = 0; plan.chunks == 1 && i < width; ++i) {
                      to[output + i] = Fold::Result(folded[i], nest.count);
                    }
                  }
                });
    for (int64_t item = 0; plan.chunks > 1 && item < plan.items; ++item) {
      for (int64_t i = 0; i < width_of(item); ++i) {
        double sum = static_cast<double>(Fold::Initial());
        for (int64_t chunk = 0; chunk < plan.chunks; ++chunk) {
          sum = Fold::Add(sum, scratch[(item * plan.chunks + chunk) * plan.tile + i]);
        }
        to[output_of(item) + i] = Fold::Result(sum, nest.count);
      }
    }
  }
};

struct VectorSumFold {
  static constexpr bool kEmptyAllowed = true;
  static float Initial() { return 0.0f; }
  static Vec Add(Vec a, Vec b) { return lathe::Add(a, b); }
  static double Add(double a, double b) { return a + b; }
  static float Result(double sum, int64_t) { return static_cast<float>(sum); }
};

template <typename Fold>
constexpr KernelFunctions VectorReduceKernel() {
  using Kernel = VectorReduce<Fold>;
  return {
      .state_size = sizeof(ReduceState),
      .plan_size = sizeof(FoldPlan),
      .prepare = Kernel::Prepare,
      .plan = Kernel::Plan,
      .run = Kernel::Run,
  };
}

}  // namespace
}  // namespace lathe

#endif  // LATHE_KERNEL_LOOPS_VECTOR_REDUCE_H_
