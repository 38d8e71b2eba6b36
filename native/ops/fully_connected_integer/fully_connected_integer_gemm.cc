// x [..., K] of bytes times w [N, K] transposed, as the real numbers that the sums stand for.
#include "native/kernel/gemm/zero_points.h"
#include "native/kernel/math/activation.h"

namespace lathe {
namespace {

constexpr int kScale = 4, kBias = 5;

struct State {
  IntegerPanels integer;
  Activation activation;
};

struct Plan {
  int64_t rows;
  int64_t pitch;    // from row to row of the copy of x
  int64_t columns;  // and more, for whole blocks
  int64_t threads;
  int64_t thread_bytes;
};

// The scratch memory: what threads have, the words, and the copy of x.
struct Memory {
  char* of_threads;
  int32_t* zeros;
  float* scales;
  float* biases;
  uint32_t* row_sums;
  int8_t* copy;

  Memory(const Plan& plan, int64_t outputs, void* scratch) : of_threads(static_cast<char*>(scratch)) {
    zeros = reinterpret_cast<int32_t*>(of_threads + plan.threads * plan.thread_bytes);
    scales = reinterpret_cast<float*>(zeros + ZeroPoints::Words(outputs));
    biases = scales + plan.columns;
    row_sums = reinterpret_cast<uint32_t*>(biases + plan.columns);
    copy = reinterpret_cast<int8_t*>(row_sums + plan.rows);
  }

  static int64_t Bytes(const Plan& plan, int64_t outputs) {
    const int64_t words = ZeroPoints::Words(outputs) + 2 * plan.columns + plan.rows;
    return plan.threads * plan.thread_bytes + words * static_cast<int64_t>(sizeof(int32_t)) + plan.rows * plan.pitch;
  }
};

__attribute__((cold)) Code Prepare(PrepareContext& context) {
  State& state = *static_cast<State*>(context.state());
  LATHE_TRY(CheckArity(context, 5, 6, 1));
  LATHE_TRY(CheckIntegerOperands(context, DType::kF32));
  LATHE_TRY(CheckScalarOrRow(context, kScale, DType::kF32));
  if (context.input_count() > kBias) {
    if (context.input(kBias).dtype != DType::kF32) return context.Fail(Code::kUnsupported, "its bias is no f32");
    LATHE_TRY(CheckRank(context, context.input(kBias), 1, "its bias"));
  }
  const Shape& x = context.input(0).shape;
  const Tensor& w = context.input(1);
  const bool plain = w.packing == Packing::kNone;
  if (x.rank < 1) return context.Fail(Code::kBadModel, "its input has the wrong rank");
  LATHE_TRY(CheckRank(context, context.output(0), x.rank, "its output"));
  LATHE_TRY(CheckRank(context, w, plain ? 2 : 6, "its weight"));
  LATHE_TRY(ReadActivation(context, &state.activation));
  BytePanelShape& shape = state.integer.panels.shape;
  shape = {1, plain ? w.shape[0] : context.output(0).shape[-1], 1, x[-1]};
  if (shape.outputs < 1 || shape.depth < 1) return context.Fail(Code::kBadModel, "its weight is empty");
  const Shape packed = {6, {1, shape.panels(), 1, 1, shape.steps(), kBytePanel * kByteDepth}};
  if (plain ? w.shape[1] != shape.depth : w.shape != packed)
    return context.Fail(Code::kBadModel, "input and weight differ in depth");
  return PrepareByteSums(context, kByteForm, 1, &state.integer.panels, &state.integer.weight_sums);
}

__attribute__((cold)) Code PlanRun(PlanContext& context) {
  const BytePanelShape& shape = static_cast<const State*>(context.state())->integer.panels.shape;
  const Shape& in = context.input(0).shape;
  if (in[-1] != shape.depth) return context.Fail(Code::kBadModel, "input and weight differ in depth");
  Shape expected = in;
  expected.dims[in.rank - 1] = shape.outputs;
  LATHE_TRY(CheckShape(context, 0, expected));
  for (int i = kIntegerWZero; i < context.input_count(); ++i) LATHE_TRY(CheckRowLength(context, i, shape.outputs));
  Plan& plan = *static_cast<Plan*>(context.plan());
  plan.rows = in.Count(0, in.rank - 1);
  plan.pitch = (shape.depth + kSumBlock - 1) / kSumBlock * kSumBlock;
  plan.columns = shape.outputs + kSumBlock;
  plan.threads = context.threads();
  plan.thread_bytes = ByteThreadBytes(shape);
  return RequestScratch(context, Memory::Bytes(plan, shape.outputs));
}

// Numbers behind whole blocks are computed, but not stored.
void SpreadRow(const Tensor& row, int64_t count, float* to) {
  const float* from = row.As<float>();
  for (int64_t j = 0; j < count; ++j) to[j] = from[j * row.shape.rank];
}

void FinishRows(const RunContext& context, const ZeroPoints& zeros, const Memory& memory, int64_t begin, int64_t end) {
  const State& state = context.State<State>();
  const int64_t outputs = state.integer.panels.shape.outputs;
  const Activation activation = state.activation;
  float low = -__builtin_inff(), high = __builtin_inff();
  if (activation.kind == ActivationKind::kRelu) low = 0.0f;
  if (activation.kind == ActivationKind::kClip) low = activation.alpha, high = activation.beta;
  float* y = context.outputs[0].As<float>() + begin * outputs;
  for (int64_t row = begin; row < end; ++row) {
    zeros.FinishGroup(0, zeros.shifted() ? memory.row_sums[row] : 0, y + (row - begin) * outputs,
                      [&](int64_t output, const auto& sums, auto& results) {
                        constexpr int64_t kCount = sizeof results / sizeof *results;
                        const float *scales = memory.scales + output, *biases = memory.biases + output;
                        for (int64_t j = 0; j < kCount; ++j)
                          results[j] = static_cast<float>(static_cast<int32_t>(sums[j])) * scales[j] + biases[j];
                        for (int64_t j = 0; j < kCount; ++j) results[j] = Clip(results[j], low, high);
                      });
  }
  if (activation.kind != ActivationKind::kRelu && activation.kind != ActivationKind::kClip)
    Activate(activation, y, (end - begin) * outputs);
}

void Run(const RunContext& context) {
  const Plan& plan = context.Plan<Plan>();
  const IntegerPanels& state = context.State<State>().integer;
  const BytePanelShape& shape = state.panels.shape;
  const Memory memory(plan, shape.outputs, context.scratch);
  const ZeroPoints zeros(context, state, memory.zeros);
  memset(memory.scales, 0, static_cast<size_t>(2 * plan.columns) * sizeof *memory.scales);
  SpreadRow(context.inputs[kScale], shape.outputs, memory.scales);
  if (context.input_count > kBias) SpreadRow(context.inputs[kBias], shape.outputs, memory.biases);
  const uint8_t* x = context.inputs[0].As<uint8_t>();
  context.For(plan.rows, 1, [&](int64_t begin, int64_t end, int) {
    for (int64_t row = begin; row < end; ++row) {
      int8_t* to = memory.copy + row * plan.pitch;
      zeros.CopyBytes(x + row * shape.depth, shape.depth, to);
      memset(to + shape.depth, 0, static_cast<size_t>(plan.pitch - shape.depth));
      if (zeros.shifted()) memory.row_sums[row] = zeros.SumOf(to, shape.depth);
    }
  });
  BytePanelJob job = {};
  job.state = &state.panels;
  job.sums = reinterpret_cast<int32_t*>(context.outputs[0].As<float>());
  job.pixels = plan.rows;
  job.output_step = shape.outputs;
  job.scratch = memory.of_threads;
  job.thread_bytes = plan.thread_bytes;
  RunByteJob<true>(context, job, [&](int64_t pixel, int count, const int8_t** rows) {
    PlaceRows(memory.copy + pixel * plan.pitch, plan.pitch, count, rows);
  });
  context.For(plan.rows, 1, [&](int64_t begin, int64_t end, int) { FinishRows(context, zeros, memory, begin, end); });
}

}  // namespace
}  // namespace lathe

LATHE_KERNEL = {
    .state_size = sizeof(lathe::State),
    .plan_size = sizeof(lathe::Plan),
    .prepare = lathe::Prepare,
    .plan = lathe::PlanRun,
    .run = lathe::Run,
    .packings = lathe::PackingBit(lathe::Packing::kSigned16),
};
