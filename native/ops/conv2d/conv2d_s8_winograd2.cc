// Convolution 3 x 3 of quantised numbers with stride 1 by Winograd's minimal filtering, in integers: tiles of 2 x 2
// outputs from 4 x 4 inputs d,
//
//   4 Y = A^T [sum over the depth of (2G g (2G)^T) . (B^T d B)] A
//
// in which 2G, B and A hold integers, so that every bit is that of the sum of products itself. What is multiplied fits
// 16 bits: filters of 8 bits become 9 * 128 at most, inputs 4 * 128. Sums may wrap around at 32 bits, because A adds
// and subtracts alone: the way back gives 4 Y but for multiples of 2^32, and 4 Y where that is less than 2^31. |Y| is
// at most 9 * 128 * 128 * depth, so it is, up to a depth of kMostDepth. Tile by tile, 4 of Y take 16 products instead
// of 36.
//
// Y counts the zero point of x with every filter, as the products of byte_state.h do, and starts take it off again:
// pixels outside of the image are the zero point, too.
//
// Filters come transformed: [panel of outputs][16 points][depth / 4, rounded up][2 pairs of depth][outputs][2], s16,
// with 8 outputs of a panel. With AVX2 they come as those of conv2d_s8_gemm.cc do, which a processor with better dot
// products reads, and are transformed into panels of 16 when the engine is made.
#include <string.h>

#include "native/kernel/gemm/job_items.h"
#include "native/kernel/gemm/word_results.h"
#include "native/kernel/spatial/window.h"
#include "native/ops/conv2d/winograd_place.h"
#if defined(LATHE_ISA_AVX2)
#include "native/ops/conv2d/winograd_bytes_avx2.h"
#endif

namespace lathe {
namespace {

constexpr int kTile = 2;
constexpr int kPatch = 4;
constexpr int kPoints = kPatch * kPatch;
constexpr int kSumPoint = kPatch + 1;  // where a filter becomes the sum of its numbers
constexpr int kPanel = 2 * kSums;      // outputs
constexpr int kDepth = 4;              // of a step
constexpr int64_t kMostDepth = 3640;   // below 2^29 / (9 * 128 * 128)

constexpr int kRows = 32 / kWordRows * kWordRows;  // tiles of a round
constexpr int64_t kSharedTiles = 4 * kRows;
constexpr int64_t kProducts = int64_t{kPoints} * kRows * kPanel;

struct ByteWinogradState {
  BytePanelState results;
  Window window;
  int64_t depth;
  int64_t outputs;
  int64_t panels;
  const int16_t* filters;
};

struct ByteWinogradPlan {
  int64_t tiles[2];  // per image and axis
  int64_t count;     // of all images
  int64_t threads;
  bool shared;      // few tiles: all threads use the inputs that all have transformed; else every thread has its own
  int64_t row;      // numbers of one point of one tile: the depth, rounded up to whole vectors
  int64_t outside;  // bytes of a pixel outside of the image
  int64_t rows() const { return shared ? DivideUp(count, kWordRows) * kWordRows : kRows; }  // of each point
  int64_t round_bytes() const { return kPoints * row * rows() * int64_t{sizeof(int16_t)}; }
};

// Where the work of one round lies.
struct Round {
  int64_t first;    // tile
  int64_t tiles;    // of which there are so many
  int16_t* inputs;  // transformed: [kPoints][ByteWinogradPlan::rows()][row]
};

// The transformation of inputs along one axis.
inline void TransformIn(const Words (&x)[kPatch], Words (&y)[kPatch]) {
  y[0] = Sub(x[0], x[2]);
  y[1] = Add(x[1], x[2]);
  y[2] = Sub(x[2], x[1]);
  y[3] = Sub(x[1], x[3]);
}

// The way back.
inline void TransformOut(const Sums (&x)[kPatch], Sums (&y)[kTile]) {
  y[0] = Add(Add(x[0], x[1]), x[2]);
  y[1] = Sub(Sub(x[1], x[2]), x[3]);
}

// Transforms the inputs of one tile into row `slot`.
__attribute__((noinline)) void TransformTile(const RunContext& context, const Round& round, const int8_t* outside,
                                             int64_t slot) {
  const ByteWinogradPlan& plan = context.Plan<ByteWinogradPlan>();
  const Window& window = context.State<ByteWinogradState>().window;
  const Tensor& input = context.inputs[0];
  const Shape& in = input.shape;
  const int64_t input_step = input.RowStep();
  const TilePlace place(round.first + slot, plan.tiles, kTile);
  const int8_t* pixels[kPatch][kPatch];
  int8_t few[kPatch][kPatch][kWords] = {};  // pixels of less channels than a vector has
  for (int i = 0; i < kPatch; ++i) {
    const int64_t y = place.y + i - window.before[0];
    const int8_t* line = nullptr;
    if (y >= 0 && y < in[1]) line = input.As<int8_t>() + (place.batch * in[1] + y) * in[2] * input_step;
    for (int j = 0; j < kPatch; ++j) {
      const int64_t x = place.x + j - window.before[1];
      pixels[i][j] = line != nullptr && x >= 0 && x < in[2] ? line + x * input_step : outside;
      if (in[3] >= kWords) continue;
      memcpy(few[i][j], pixels[i][j], static_cast<size_t>(in[3]));
      pixels[i][j] = few[i][j];
    }
  }
  const int64_t step = plan.rows() * plan.row;  // from point to point
  for (int64_t channel = 0; channel < in[3]; channel += kWords) {
    if (channel > in[3] - kWords && channel > 0) channel = in[3] - kWords;  // overlaps the one before
    Words half[kPatch][kPatch];
#pragma GCC unroll 4
    for (int j = 0; j < kPatch; ++j) {
      Words x[kPatch], y[kPatch];
#pragma GCC unroll 4
      for (int i = 0; i < kPatch; ++i) x[i] = LoadBytes(pixels[i][j] + channel);
      TransformIn(x, y);
#pragma GCC unroll 4
      for (int i = 0; i < kPatch; ++i) half[i][j] = y[i];
    }
    int16_t* to = round.inputs + slot * plan.row + channel;
#pragma GCC unroll 4
    for (int i = 0; i < kPatch; ++i) {
      Words y[kPatch];
      TransformIn(half[i], y);
#pragma GCC unroll 4
      for (int j = 0; j < kPatch; ++j, to += step) Store(to, y[j]);
    }
  }
}

// kWordRows tiles of one point times the filters of a panel.
inline void MultiplyRows(const int16_t* inputs, int64_t row, const int16_t* filters, int steps, int32_t* to) {
  const int16_t* x[kWordRows];
  for (int r = 0; r < kWordRows; ++r) x[r] = inputs + r * row;
  Sums sums[kWordRows][2] = {};
  for (int step = 0; step < steps; ++step) {
    WordInputs four[kWordRows];
#pragma GCC unroll 8
    for (int r = 0; r < kWordRows; ++r) {
      four[r] = LoadInputs(x[r]);
      x[r] += kDepth;
    }
    const WordFilters first = LoadFilters(filters);
#pragma GCC unroll 8
    for (int r = 0; r < kWordRows; ++r) AddProducts<0>(first, four[r], sums[r]);
    const WordFilters second = LoadFilters(filters + 2 * kPanel);
#pragma GCC unroll 8
    for (int r = 0; r < kWordRows; ++r) AddProducts<2>(second, four[r], sums[r]);
    filters += kDepth * kPanel;
  }
#pragma GCC unroll 8
  for (int r = 0; r < kWordRows; ++r) {
    Store(to + r * kPanel, sums[r][0]);
    Store(to + r * kPanel + kSums, sums[r][1]);
  }
}

// Tiles [begin, begin + count) of the round times the filters of a panel: [kPoints][kRows][kPanel]. Beside them,
// whatever memory holds is multiplied, up to kWordRows.
inline void MultiplyPanel(const ByteWinogradState& state, const ByteWinogradPlan& plan, const Round& round,
                          int64_t begin, int count, int64_t panel, int32_t* products) {
  const int steps = static_cast<int>(DivideUp(state.depth, kDepth));
  const int64_t point_filters = int64_t{steps} * kDepth * kPanel;
  const int16_t* filters = state.filters + panel * kPoints * point_filters;
  for (int64_t point = 0; point < kPoints; ++point, filters += point_filters, products += kRows * kPanel) {
    const int16_t* inputs = round.inputs + (point * plan.rows() + begin) * plan.row;
    for (int slot = 0; slot < count; slot += kWordRows) {
      MultiplyRows(inputs + slot * plan.row, plan.row, filters, steps, products + slot * kPanel);
    }
  }
}

// Stores `count` outputs of a pixel, less than there are in a panel. `residual` may be null.
__attribute__((noinline)) void StorePart(const WordResults& results, const Sums (&sums)[2], int64_t count,
                                         const int8_t* residual, int8_t* to) {
  int8_t some[kPanel] = {};
  if (residual != nullptr) memcpy(some, residual, static_cast<size_t>(count));
  results.Store(sums, residual != nullptr ? some : nullptr, some);
  memcpy(to, some, static_cast<size_t>(count));
}

// Transforms the products of one tile and panel back.
inline void StoreTile(const RunContext& context, const WordResults& results, const int32_t* products, int64_t tile,
                      int64_t panel) {
  const ByteWinogradState& state = context.State<ByteWinogradState>();
  Tensor& output = context.outputs[0];
  const Shape& out = output.shape;
  const TilePlace place(tile, context.Plan<ByteWinogradPlan>().tiles, kTile);
  Sums y[kTile][kTile][2];
  for (int half = 0; half < 2; ++half) {
    Sums middle[kTile][kPatch];
#pragma GCC unroll 4
    for (int j = 0; j < kPatch; ++j) {
      Sums x[kPatch], z[kTile];
#pragma GCC unroll 4
      for (int i = 0; i < kPatch; ++i) x[i] = LoadSums(products + (i * kPatch + j) * kRows * kPanel + half * kSums);
      TransformOut(x, z);
      middle[0][j] = z[0];
      middle[1][j] = z[1];
    }
#pragma GCC unroll 2
    for (int i = 0; i < kTile; ++i) {
      Sums z[kTile];
      TransformOut(middle[i], z);
      y[i][0][half] = Quarter(z[0]);
      y[i][1][half] = Quarter(z[1]);
    }
  }
  const int64_t channel = panel * kPanel, output_step = output.RowStep();
  const int64_t count = state.outputs - channel < kPanel ? state.outputs - channel : kPanel;
  const int8_t* residual = context.input_count > 3 ? context.inputs[3].As<int8_t>() : nullptr;
  for (int i = 0; i < kTile && place.y + i < out[1]; ++i) {
    const int64_t pixel = (place.batch * out[1] + place.y + i) * out[2] + place.x;
    for (int j = 0; j < kTile && place.x + j < out[2]; ++j) {
      const int8_t* beside = residual != nullptr ? residual + (pixel + j) * out[3] + channel : nullptr;
      int8_t* to = output.As<int8_t>() + (pixel + j) * output_step + channel;
      if (count == kPanel) {
        results.Store(y[i][j], beside, to);
      } else {
        StorePart(results, y[i][j], count, beside, to);
      }
    }
  }
}

// Up to kRows tiles of the round from `slot` times a panel.
__attribute__((noinline)) void RunPanel(const RunContext& context, const Round& round, int64_t slot, int64_t panel,
                                        int32_t* products) {
  const int count = static_cast<int>(round.tiles - slot < kRows ? round.tiles - slot : kRows);
  MultiplyPanel(context.State<ByteWinogradState>(), context.Plan<ByteWinogradPlan>(), round, slot, count, panel,
                products);
  const WordResults results(context.State<ByteWinogradState>().results, panel * kPanel);
  for (int i = 0; i < count; ++i) StoreTile(context, results, products + i * kPanel, round.first + slot + i, panel);
}

// Takes off starts what the zero point of x adds: itself times the sum of the filters.
void SubtractZeros(const ByteWinogradState& state, int32_t* starts) {
  const int64_t steps = DivideUp(state.depth, kDepth);
  for (int64_t output = 0; output < state.outputs; ++output) {
    const int16_t* filters = state.filters + (output / kPanel * kPoints + kSumPoint) * steps * kDepth * kPanel;
    uint32_t sum = 0;
    for (int64_t pair = 0; pair < steps * kDepth / 2; ++pair, filters += 2 * kPanel) {
      for (int i = 0; i < 2; ++i) sum += static_cast<uint32_t>(filters[output % kPanel * 2 + i]);
    }
    starts[output] =
        static_cast<int32_t>(static_cast<uint32_t>(starts[output]) - static_cast<uint32_t>(state.results.x_zero) * sum);
  }
}

#if defined(LATHE_ISA_AVX2)
constexpr Packing kFilterPacking = Packing::kSigned16;

Code PrepareFilters(PrepareContext& context, ByteWinogradState* state) {
  const BytePanelShape& shape = state->results.shape;
  const Tensor& filter = context.input(1);
  constexpr int64_t kStep = int64_t{kBytePanel} * kByteDepth;
  const int64_t steps = shape.steps();
  if (filter.shape != Shape{6, {1, state->panels, 3, 3, steps, kStep}})
    return context.Fail(Code::kBadModel, "its packed filter has another shape than it should");
  int16_t* to = nullptr;
  LATHE_TRY(AllocateArray(context, state->panels * kPoints * steps * kStep, &to));
  state->filters = to;
  const int8_t* from = filter.As<int8_t>();
  for (int64_t panel = 0; panel < state->panels; ++panel, from += shape.panel_bytes()) {
    for (int64_t step = 0; step < steps; ++step, to += kStep)
      TransformFilters(from + step * kStep, steps * kStep, steps * kStep, to);
    to += (kPoints - 1) * steps * kStep;
  }
  return Code::kOk;
}
#else
constexpr Packing kFilterPacking = Packing::kWinograd2Signed8;

Code PrepareFilters(PrepareContext& context, ByteWinogradState* state) {
  const int64_t depth = DivideUp(state->depth, kDepth) * kDepth;
  if (context.input(1).shape != Shape{4, {state->panels, kPoints, depth, kPanel * int64_t{sizeof(int16_t)}}})
    return context.Fail(Code::kBadModel, "its transformed filter has another shape than it should");
  state->filters = context.input(1).As<int16_t>();
  return Code::kOk;
}
#endif

Code PrepareByteWinograd(PrepareContext& context) {
  ByteWinogradState& state = *static_cast<ByteWinogradState*>(context.state());
  LATHE_TRY(CheckArity(context, 2, 4, 1));
  LATHE_TRY(CheckRank(context, context.input(0), 4, "its input"));
  LATHE_TRY(CheckRank(context, context.output(0), 4, "its output"));
  LATHE_TRY(ReadWindow(context, &state.window));
  int64_t groups = 0;
  LATHE_TRY(ReadInt(context, "groups", 1, kMaxExtent, &groups));
  const Tensor& filter = context.input(1);
  for (int axis = 0; axis < 2; ++axis) {
    state.window.kernel[axis] = 3;
    if (state.window.strides[axis] != 1 || state.window.dilations[axis] != 1 || groups != 1)
      return context.Fail(Code::kUnsupported, "this kernel does dense convolutions with stride 1");
  }
  if (filter.packing != kFilterPacking)
    return context.Fail(Code::kUnsupported, "this kernel takes filters that come packed for it");
  if (context.input_count() > 3) LATHE_TRY(CheckRank(context, context.input(3), 4, "its residual"));
  state.depth = context.input(0).shape[3];
  state.outputs = context.output(0).shape[3];
  if (state.depth > kMostDepth) return context.Fail(Code::kUnsupported, "it has more channels than sums hold");
  if (state.depth < 1 || state.outputs < 1) return context.Fail(Code::kUnsupported, "it has no channels");
  state.results.shape = {1, state.outputs, 9, state.depth};
  int32_t* starts = nullptr;
  LATHE_TRY(PrepareByteResults(context, &state.results, &starts));
  state.panels = DivideUp(state.outputs, kPanel);
  LATHE_TRY(PrepareFilters(context, &state));
  SubtractZeros(state, starts);
  return Code::kOk;
}

Code PlanByteWinograd(PlanContext& context) {
  const ByteWinogradState& state = *static_cast<const ByteWinogradState*>(context.state());
  ByteWinogradPlan& plan = *static_cast<ByteWinogradPlan*>(context.plan());
  LATHE_TRY(CheckImages(context));
  const Shape& in = context.input(0).shape;
  if (in[3] != state.depth) return context.Fail(Code::kBadModel, "the filter has another number of input channels");
  Shape expected = {4, {in[0], 0, 0, state.outputs}};
  for (int axis = 0; axis < 2; ++axis) {
    expected.dims[1 + axis] = WindowCount(state.window, axis, in[1 + axis], false);
    plan.tiles[axis] = DivideUp(expected.dims[1 + axis], kTile);
  }
  LATHE_TRY(CheckShape(context, 0, expected));
  if (context.input_count() > 3 && context.input(3).shape != expected)
    return context.Fail(Code::kBadModel, "the residual and the output differ in shape");
  plan.count = in[0] * plan.tiles[0] * plan.tiles[1];
  plan.row = DivideUp(state.depth, kWords) * kWords;
  plan.outside = DivideUp(plan.row, 64) * 64;
  plan.shared = plan.count <= kSharedTiles;
  plan.threads = context.threads();
  const int64_t buffers = plan.shared ? 1 : plan.threads;
  return RequestScratch(
      context, plan.outside + buffers * plan.round_bytes() + plan.threads * kProducts * int64_t{sizeof(int32_t)});
}

void RunByteWinograd(const RunContext& context) {
  const ByteWinogradState& state = context.State<ByteWinogradState>();
  const ByteWinogradPlan& plan = context.Plan<ByteWinogradPlan>();
  int8_t* outside = static_cast<int8_t*>(context.scratch);
  memset(outside, state.results.x_zero, static_cast<size_t>(plan.outside));
  int32_t* products = reinterpret_cast<int32_t*>(outside + plan.outside);
  int16_t* inputs = reinterpret_cast<int16_t*>(products + plan.threads * kProducts);
  if (plan.shared) {
    const Round round = {0, plan.count, inputs};
    context.For(plan.count, 1, [&](int64_t begin, int64_t end, int) {
      for (int64_t slot = begin; slot < end; ++slot) TransformTile(context, round, outside, slot);
    });
    context.For(state.panels * DivideUp(plan.count, kRows), 1, [&](int64_t begin, int64_t end, int thread) {
      for (int64_t item = begin; item < end; ++item) {
        RunPanel(context, round, item / state.panels * kRows, item % state.panels, products + thread * kProducts);
      }
    });
    return;
  }
  context.For(DivideUp(plan.count, kRows), 1, [&](int64_t begin, int64_t end, int thread) {
    for (int64_t item = begin; item < end; ++item) {
      const int64_t rest = plan.count - item * kRows;
      int16_t* own = inputs + thread * plan.round_bytes() / int64_t{sizeof(int16_t)};
      const Round round = {item * kRows, rest < kRows ? rest : kRows, own};
      for (int64_t slot = 0; slot < round.tiles; ++slot) TransformTile(context, round, outside, slot);
      for (int64_t panel = 0; panel < state.panels; ++panel) {
        RunPanel(context, round, 0, panel, products + thread * kProducts);
      }
    }
  });
}

}  // namespace
}  // namespace lathe

LATHE_KERNEL = {
    .state_size = sizeof(lathe::ByteWinogradState),
    .plan_size = sizeof(lathe::ByteWinogradPlan),
    .prepare = lathe::PrepareByteWinograd,
    .plan = lathe::PlanByteWinograd,
    .run = lathe::RunByteWinograd,
    .packings = lathe::PackingBit(lathe::kFilterPacking),
};
