// Depthwise convolution with a square window, strides of 1 or 2: rows are copied with their padding.
//
// The rows of the input that a row of the output looks at lie side by side for one or two vectors of channels, with
// zeros at both ends, so that a strip of outputs reads them in order, wherever it is. A strip holds the sums of
// kStrip outputs and the filters of one row of the window in registers: a column is loaded once for all its taps.
#include <string.h>

#include "native/kernel/simd/simd.h"
#include "native/ops/dwconv2d/dwconv2d_node.h"

namespace lathe {
namespace {

constexpr int kSide = LATHE_SIDE;
constexpr int kStrip = 7;  // outputs; widths of images are often multiples of it
constexpr int kPair = 2;   // vectors of channels that are copied together
constexpr int kPairChannels = kPair * kLanes;

// How a run is cut, by shape alone.
struct BandPlan {
  int64_t width;   // columns of a copied row: those that the strips of an output row look at
  int64_t thread;  // elements of scratch: kSide copied rows, and a row of output for one vector
  int64_t blocks;  // of channels: a pair of vectors each; the last also has what remains
  int64_t rows;    // of a band, which is computed by one thread
  int64_t bands;   // of an image

  BandPlan(const Shape& in, const Shape& out, int64_t stride) {
    constexpr int64_t kItems = 16;          // fewer blocks are split by rows, so that all threads have something to do
    constexpr int64_t kFewest = 2 * kSide;  // rows: a band copies up to kSide - 1 rows that another one copies, too
    const int64_t strips = (out[2] + kStrip - 1) / kStrip;
    width = (strips * kStrip - 1) * stride + kSide;
    thread = kSide * width * kPairChannels + out[2] * kLanes;
    blocks = in[3] > kPairChannels ? in[3] / kPairChannels : 1;
    const int64_t items = blocks * out[0];
    const int64_t splits = items > 0 && items < kItems ? (kItems + items - 1) / items : 1;
    rows = (out[1] + splits - 1) / splits;
    if (rows < kFewest) rows = kFewest;
    bands = (out[1] + rows - 1) / rows;
  }
};

Code PrepareBand(PrepareContext& context) {
  DwState& state = *static_cast<DwState*>(context.state());
  LATHE_TRY(ReadDepthwise(context, &state));
  const Window& window = state.window;
  const bool square = window.kernel[0] == kSide && window.kernel[1] == kSide;
  const bool steps = window.strides[0] <= 2 && window.strides[1] <= 2;
  const bool dense = window.dilations[0] == 1 && window.dilations[1] == 1;
  if (square && steps && dense && state.multiplier == 1 && context.input(1).shape[2] >= kLanes) return Code::kOk;
  return context.Fail(Code::kUnsupported, "this kernel has another window");
}

Code PlanBand(PlanContext& context) {
  const DwState& state = *static_cast<const DwState*>(context.state());
  LATHE_TRY(CheckDepthwise(context));
  const BandPlan plan(context.input(0).shape, context.output(0).shape, state.window.strides[1]);
  return RequestScratch(context, plan.thread * context.threads() * static_cast<int64_t>(sizeof(Element)));
}

// A row of the input for two vectors of channels, `apart` from each other, with `before` columns of padding in front.
// `from`: the first vector at column 0.
inline void CopyRow(const Element* from, int64_t columns, int64_t channels, int64_t apart, int64_t before,
                    int64_t width, Element* to) {
  if (before > width) before = width;
  if (columns > width - before) columns = width - before;
  memset(to, 0, static_cast<size_t>(before * kPairChannels) * sizeof(Element));
  to += before * kPairChannels;
  for (int64_t x = 0; x < columns; ++x, from += channels, to += kPairChannels) {
    Store(to, Load(from));
    Store(to + kLanes, Load(from + apart));
  }
  memset(to, 0, static_cast<size_t>((width - before - columns) * kPairChannels) * sizeof(Element));
}

// Adds one row of the window to the sums of a strip.
template <int stride>
inline __attribute__((always_inline)) void AddRow(const Element* from, const Element* filter, int64_t channels,
                                                  Vec (&sums)[kStrip]) {
  Vec weights[kSide];
#pragma GCC unroll 8
  for (int tap = 0; tap < kSide; ++tap) weights[tap] = Load(filter + tap * channels);
#pragma GCC unroll 32
  for (int column = 0; column < (kStrip - 1) * stride + kSide; ++column) {
    const Vec x = Load(from + column * kPairChannels);
#pragma GCC unroll 8
    for (int i = 0; i < kStrip; ++i) {
      const int tap = column - i * stride;
      if (tap >= 0 && tap < kSide) sums[i] = MulAdd(x, weights[tap], sums[i]);
    }
  }
}

// A row of output for one vector of channels.
struct BandRow {
  const Element* rows[kSide];  // copied ones, at their first column
  int first, last;             // those in the image
  const Element* filter;
  int64_t channels;
  Vec bias, low, high;
  int64_t columns;
  Element* output;
  int64_t pixel;  // from column to column of the output
};

template <int stride>
__attribute__((noinline)) void RunBandRow(const BandRow& row) {
  Element* to = row.output;
  for (int64_t x = 0; x < row.columns; x += kStrip) {
    Vec sums[kStrip];
#pragma GCC unroll 8
    for (int i = 0; i < kStrip; ++i) sums[i] = row.bias;
    const Element* filter = row.filter + row.first * kSide * row.channels;
    for (int i = row.first; i < row.last; ++i, filter += kSide * row.channels) {
      AddRow<stride>(row.rows[i] + x * stride * kPairChannels, filter, row.channels, sums);
    }
#pragma GCC unroll 8
    for (int i = 0; i < kStrip; ++i, to += row.pixel) {
      if (x + i < row.columns) Store(to, AtLeast(AtMost(sums[i], row.high), row.low));
    }
  }
}

// What the threads of one run share.
struct BandJob {
  const DwState& state;
  const Element* image;
  const Element* filter;
  const Element* bias;  // may be null
  Element* output;
  const Shape& in;
  const Shape& out;
  float low;
  float high;
  bool rest;  // of the activation
};

// Rows [top, end) of an image for two vectors of channels, the first ones at `first`.
inline void RunPair(const BandJob& job, const BandPlan& plan, int64_t batch, int64_t top, int64_t end, int64_t first,
                    Element* scratch) {
  const Window& window = job.state.window;
  const int64_t channels = job.in[3];
  const int64_t last = channels - kLanes;
  const int64_t starts[kPair] = {first < last ? first : last, first + kLanes < last ? first + kLanes : last};
  const int64_t line = plan.width * kPairChannels;
  Element* const result = scratch + kSide * line;
  const Element* const image = job.image + batch * job.in[1] * job.in[2] * channels + starts[0];
  int64_t copied = 0;  // rows of the image before this one are not needed any more, or there
  for (int64_t y = top; y < end; ++y) {
    const Taps taps = TapsInside(window, 0, y, job.in[1]);
    if (copied < taps.origin + taps.first) copied = taps.origin + taps.first;
    for (; copied < taps.origin + taps.last; ++copied) {
      CopyRow(image + copied * job.in[2] * channels, job.in[2], channels, starts[1] - starts[0], window.before[1],
              plan.width, scratch + copied % kSide * line);
    }
    Element* const output = job.output + (batch * job.out[1] + y) * job.out[2] * channels;
    for (int v = 0; v < kPair && (v == 0 || starts[v] > starts[0]); ++v) {
      BandRow row;
      row.first = static_cast<int>(taps.first);
      row.last = static_cast<int>(taps.last);
      for (int i = row.first; i < row.last; ++i) row.rows[i] = scratch + (taps.origin + i) % kSide * line + v * kLanes;
      row.filter = job.filter + starts[v];
      row.channels = channels;
      row.bias = job.bias != nullptr ? Load(job.bias + starts[v]) : Fill(0.0f);
      row.low = Fill(job.low);
      row.high = Fill(job.high);
      row.columns = job.out[2];
      row.output = job.rest ? result : output + starts[v];
      row.pixel = job.rest ? kLanes : channels;
      window.strides[1] == 2 ? RunBandRow<2>(row) : RunBandRow<1>(row);
      if (!job.rest) continue;
      ActivateAll(job.state.activation, result, job.out[2] * kLanes);
      for (int64_t x = 0; x < job.out[2]; ++x) Store(output + x * channels + starts[v], Load(result + x * kLanes));
    }
  }
}

void RunBand(const RunContext& context) {
  BandJob job = {context.State<DwState>(),
                 context.inputs[0].As<Element>(),
                 context.inputs[1].As<Element>(),
                 context.input_count > 2 ? context.inputs[2].As<Element>() : nullptr,
                 context.outputs[0].As<Element>(),
                 context.inputs[0].shape,
                 context.outputs[0].shape,
                 0,
                 0,
                 false};
  job.rest = ReadLimits(job.state.activation, &job.low, &job.high);
  const BandPlan plan(job.in, job.out, job.state.window.strides[1]);
  context.For(plan.bands * job.out[0] * plan.blocks, 1, [&](int64_t item, int64_t end, int thread) {
    Element* const scratch = static_cast<Element*>(context.scratch) + thread * plan.thread;
    for (; item < end; ++item) {
      const int64_t block = item % plan.blocks, band = item / plan.blocks;
      const int64_t batch = band / plan.bands, top = band % plan.bands * plan.rows;
      const int64_t bottom = top + plan.rows < job.out[1] ? top + plan.rows : job.out[1];
      const int64_t last = block + 1 == plan.blocks ? job.in[3] : (block + 1) * kPairChannels;
      for (int64_t first = block * kPairChannels; first < last; first += kPairChannels) {
        RunPair(job, plan, batch, top, bottom, first, scratch);
      }
    }
  });
}

}  // namespace
}  // namespace lathe

LATHE_KERNEL = {
    .state_size = sizeof(lathe::DwState),
    .prepare = lathe::PrepareBand,
    .plan = lathe::PlanBand,
    .run = lathe::RunBand,
};
