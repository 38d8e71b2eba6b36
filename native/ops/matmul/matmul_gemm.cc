// Batched matrix product with NumPy's broadcasting. The right operand is packed into panels, once where it is
// constant; where too few rows would use them it is read where it is.
#include "native/kernel/gemm/dot.h"
#include "native/kernel/gemm/panels.h"
#include "native/kernel/gemm/products.h"
#include "native/kernel/simd/simd.h"

namespace lathe {
namespace {

constexpr int64_t kFewRows = 4;        // as many are multiplied with an operand that is not packed
constexpr int64_t kManyBatches = 8;    // from here on the batches are the unit of parallel work
constexpr int64_t kPlaceColumns = 64;  // of one item of parallel work without panels
constexpr int64_t kDotRows = 8;        // the same where the right operand is a column

struct MatmulState {
  const float* packed;  // the right operand, if it is one constant matrix
};

enum class MatmulWay : int32_t { kDots, kInPlace, kPanels };

struct MatmulPlan {
  Products products;
  PanelPlan panels;
  MatmulWay way;
  bool by_batch;  // every thread packs for itself
};

// The shape of panels of a matrix [depth, columns].
inline PanelShape PanelsOf(int64_t depth, int64_t columns) { return {1, columns, 1, depth}; }

// Panels [begin, end) of a matrix [depth, columns].
inline void PackColumns(const PanelShape& shape, const float* from, int64_t begin, int64_t end, float* to) {
  for (int64_t panel = begin; panel < end; ++panel) {
    const int64_t first = panel * kPanelWidth;
    const int64_t rest = shape.outputs - first;
    float* line = to + panel * shape.panel_elements();
    for (int64_t k = 0; k < shape.depth; ++k, line += kPanelWidth) {
      for (int j = 0; j < kPanelWidth; j += kLanes) {
        const int64_t count = rest - j < 0 ? 0 : rest - j < kLanes ? rest - j : kLanes;
        const float* at = from + k * shape.outputs + first + (count > 0 ? j : 0);
        Store(line + j, count == kLanes ? Load(at) : LoadPart(at, static_cast<int>(count)));
      }
    }
  }
}

__attribute__((cold)) Code PrepareMatmul(PrepareContext& context) {
  MatmulState& state = *static_cast<MatmulState*>(context.state());
  LATHE_TRY(CheckArity(context, 2, 2, 1));
  LATHE_TRY(CheckAllTypes(context, DType::kF32));
  for (int i = 0; i < 2; ++i) {
    if (context.input(i).shape.rank < 1) return context.Fail(Code::kBadModel, "its inputs have at least rank 1");
  }
  const Tensor& b = context.input(1);
  const int64_t count = b.shape.Count();
  if (count > kMaxPackedElements) return context.Fail(Code::kUnsupported, "its right operand is too large");
  if (!b.is_constant() || b.shape.rank < 2 || count == 0 || b.shape[-1] * b.shape[-2] != count || b.shape[-1] == 1) {
    return Code::kOk;
  }
  const PanelShape shape = PanelsOf(b.shape[-2], b.shape[-1]);
  float* packed = nullptr;
  LATHE_TRY(AllocateArray(context, shape.elements(), &packed));
  PackColumns(shape, b.As<float>(), 0, shape.panels(), packed);
  state.packed = packed;
  return Code::kOk;
}

__attribute__((cold)) Code PlanMatmul(PlanContext& context) {
  const MatmulState& state = *static_cast<const MatmulState*>(context.state());
  MatmulPlan& plan = *static_cast<MatmulPlan*>(context.plan());
  Products& products = plan.products;
  LATHE_TRY(PlanProducts(context, 0, 1, &products));
  const int64_t matrix = products.depth * products.columns;
  const Shape& b = context.input(1).shape;
  if (b.Count() == matrix && matrix > 0) {  // one matrix for all rows
    products.rows *= products.batches();
    products.batch_rank = 0;
  }
  plan.way = MatmulWay::kPanels;
  if (matrix == 0 || (state.packed == nullptr && products.rows <= kFewRows)) plan.way = MatmulWay::kInPlace;
  if (products.columns == 1 && matrix > 0) plan.way = MatmulWay::kDots;
  if (plan.way != MatmulWay::kPanels) return Code::kOk;
  if (matrix > kMaxPackedElements) return context.Fail(Code::kUnsupported, "its right operand is too large");
  const PanelShape shape = PanelsOf(products.depth, products.columns);
  plan.by_batch = state.packed == nullptr && products.batches() >= kManyBatches;
  const int64_t copies = state.packed != nullptr ? 0 : plan.by_batch ? context.threads() : 1;
  return PlanJob(context, shape, products.rows, copies * shape.elements(), &plan.panels);
}

// Sums of `rows` rows and some vectors of columns, of which the last has `last` columns.
template <int rows, int vectors>
void MultiplyInPlace(const Products& plan, const float* a, const float* b, int last, float* output) {
  Vec sums[rows][vectors];
#pragma GCC unroll 4
  for (int i = 0; i < rows; ++i) {
#pragma GCC unroll 8
    for (int j = 0; j < vectors; ++j) sums[i][j] = Fill(0.0f);
  }
  for (int64_t k = 0; k < plan.depth; ++k, b += plan.columns) {
    Vec w[vectors];
#pragma GCC unroll 8
    for (int j = 0; j < vectors; ++j) w[j] = vectors > 1 || last == kLanes ? Load(b + j * kLanes) : LoadPart(b, last);
#pragma GCC unroll 4
    for (int i = 0; i < rows; ++i) {
      const Vec x = Fill(a[i * plan.depth + k]);
#pragma GCC unroll 8
      for (int j = 0; j < vectors; ++j) sums[i][j] = MulAdd(x, w[j], sums[i][j]);
    }
  }
#pragma GCC unroll 4
  for (int i = 0; i < rows; ++i, output += plan.columns) {
#pragma GCC unroll 8
    for (int j = 0; j < vectors; ++j) {
      vectors > 1 || last == kLanes ? Store(output + j * kLanes, sums[i][j]) : StorePart(output, sums[i][j], last);
    }
  }
}

// Some rows times the columns [begin, end).
template <int rows>
void RunInPlace(const Products& plan, const float* a, const float* b, int64_t begin, int64_t end, float* output) {
  constexpr int kVectors = rows == 1 ? 8 : kVectorRegisters == 32 ? 4 : 2;
  int64_t column = begin;
  for (; column + kVectors * kLanes <= end; column += kVectors * kLanes) {
    MultiplyInPlace<rows, kVectors>(plan, a, b + column, kLanes, output + column);
  }
  for (; column < end; column += kLanes) {
    const int last = static_cast<int>(end - column < kLanes ? end - column : kLanes);
    MultiplyInPlace<rows, 1>(plan, a, b + column, last, output + column);
  }
}

inline void RunAllInPlace(const RunContext& context, const Products& plan) {
  const float* a = context.inputs[0].As<float>();
  const float* b = context.inputs[1].As<float>();
  float* output = context.outputs[0].As<float>();
  const int64_t tiles = DivideUp(plan.columns, kPlaceColumns);
  context.For(plan.batches() * tiles, 1, [&](int64_t begin, int64_t end, int) {
    for (int64_t item = begin; item < end; ++item) {
      const int64_t batch = item / tiles;
      const int64_t first = (item - batch * tiles) * kPlaceColumns;
      const int64_t last = plan.columns - first < kPlaceColumns ? plan.columns : first + kPlaceColumns;
      const float* from_a = a + plan.OffsetOfA(batch);
      const float* from_b = b + plan.OffsetOfB(batch);
      float* to = output + batch * plan.rows * plan.columns;
      if (plan.rows == kFewRows) {
        RunInPlace<kFewRows>(plan, from_a, from_b, first, last, to);
        continue;
      }
      for (int64_t row = 0; row < plan.rows; ++row) {
        RunInPlace<1>(plan, from_a + row * plan.depth, from_b, first, last, to + row * plan.columns);
      }
    }
  });
}

inline void RunDots(const RunContext& context, const Products& plan) {
  const float* a = context.inputs[0].As<float>();
  const float* b = context.inputs[1].As<float>();
  float* output = context.outputs[0].As<float>();
  context.For(plan.batches() * plan.rows, kDotRows, [&](int64_t begin, int64_t end, int) {
    for (int64_t item = begin; item < end; ++item) {
      const int64_t batch = item / plan.rows;
      const int64_t row = item - batch * plan.rows;
      output[item] = Dot(a + plan.OffsetOfA(batch) + row * plan.depth, b + plan.OffsetOfB(batch), plan.depth);
    }
  });
}

struct MatmulRun {
  const MatmulPlan& plan;
  const float* a;
  const float* b;
  PanelJob job;   // of which batches differ in `packed` and `output`
  float* packed;  // a matrix, or one per thread

  void PointAt(int64_t batch, PanelJob* to) const {
    to->output = job.output + batch * plan.products.rows * plan.products.columns;
  }
  // Where the rows of a batch are.
  auto Locate(int64_t batch) const {
    const float* from = a + plan.products.OffsetOfA(batch);
    const int64_t depth = plan.products.depth;
    return [from, depth](int64_t row, int count, const float** rows) {
      for (int p = 0; p < count; ++p) rows[p] = from + (row + p) * depth;
    };
  }
};

// Every thread does whole batches.
inline void RunByBatch(const RunContext& context, const MatmulRun& run) {
  const PanelShape& shape = run.job.shape;
  context.For(run.plan.products.batches(), 1, [&](int64_t begin, int64_t end, int thread) {
    PanelJob job = run.job;
    float* packed = run.packed + thread * shape.elements();
    job.packed = packed;
    for (int64_t batch = begin; batch < end; ++batch) {
      PackColumns(shape, run.b + run.plan.products.OffsetOfB(batch), 0, shape.panels(), packed);
      run.PointAt(batch, &job);
      ForgetChunk(job, thread);
      const auto locate = run.Locate(batch);
      RunPanelJobAlone(job, thread, LocatorOf(locate));
    }
  });
}

// All threads do one batch after the other.
inline void RunOneByOne(const RunContext& context, const MatmulRun& run, bool pack) {
  PanelJob job = run.job;
  for (int64_t batch = 0; batch < run.plan.products.batches(); ++batch) {
    if (pack) {
      const float* from = run.b + run.plan.products.OffsetOfB(batch);
      context.For(job.shape.panels(), 4,
                  [&](int64_t begin, int64_t end, int) { PackColumns(job.shape, from, begin, end, run.packed); });
      job.packed = run.packed;
    }
    run.PointAt(batch, &job);
    for (int thread = 0; thread < run.plan.panels.threads; ++thread) ForgetChunk(job, thread);
    RunPanelJob(context, job, run.Locate(batch));
  }
}

void RunMatmul(const RunContext& context) {
  const MatmulState& state = context.State<MatmulState>();
  const MatmulPlan& plan = context.Plan<MatmulPlan>();
  if (plan.way == MatmulWay::kDots) return RunDots(context, plan.products);
  if (plan.way == MatmulWay::kInPlace) return RunAllInPlace(context, plan.products);
  MatmulRun run = {plan, context.inputs[0].As<float>(), context.inputs[1].As<float>(), {}, nullptr};
  const PanelShape shape = PanelsOf(plan.products.depth, plan.products.columns);
  run.job = StartJob(context, shape, plan.panels, plan.products.rows, &run.packed);
  run.job.packed = state.packed;
  if (plan.by_batch) return RunByBatch(context, run);
  RunOneByOne(context, run, state.packed == nullptr);
}

}  // namespace
}  // namespace lathe

LATHE_KERNEL = {
    .state_size = sizeof(lathe::MatmulState),
    .plan_size = sizeof(lathe::MatmulPlan),
    .prepare = lathe::PrepareMatmul,
    .plan = lathe::PlanMatmul,
    .run = lathe::RunMatmul,
};
