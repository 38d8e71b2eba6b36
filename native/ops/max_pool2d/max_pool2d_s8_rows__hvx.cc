// The largest byte of each window by vectors of the DSP, line by line: first that of the window's lines for all
// columns, then that of its columns. Where pixels have gaps between them, all columns are computed, and those of
// windows are picked: vectors of several pixels cost less than pixels of a part of a vector.
#include "native/kernel/quantised/quantised_tensors.h"
#include "native/kernel/simd/copy_bytes.h"
#include "native/kernel/simd/look_up.h"
#include "native/kernel/spatial/pooled_images.h"

namespace lathe {
namespace {

struct MaxLines {
  bool same;
  uint8_t table[256];  // what each byte becomes, by its bits

  Code Read(const PrepareContext& context) {
    ByteConversion conversion = {};
    LATHE_TRY(ReadConversion(context, context.input(0), context.output(0), &conversion));
    same = conversion.factor == 1.0f && conversion.zero == conversion.steps.zero;
    for (int bits = 0; bits < 256; ++bits)
      table[bits] = static_cast<uint8_t>(ConvertByte(conversion, static_cast<int8_t>(bits)));
    return Code::kOk;
  }
};

using State = PoolState<MaxLines>;

struct PoolPlan {
  int width;  // pixels of a line that windows reach
  int threads;
  int64_t thread_bytes;
};

__attribute__((cold)) Code PreparePool(PrepareContext& context) {
  return PooledImages<MaxLines, int8_t, DType::kS8, void>::Prepare(context);
}

__attribute__((cold)) Code PlanPool(PlanContext& context) {
  LATHE_TRY((PooledImages<MaxLines, int8_t, DType::kS8, void>::Plan(context)));
  const Window& window = static_cast<const State*>(context.state())->window;
  const Shape& out = context.output(0).shape;
  if (out.Count() == 0) return Code::kOk;
  PoolPlan& plan = *static_cast<PoolPlan*>(context.plan());
  const int64_t width = (out[2] - 1) * window.strides[1] + (window.kernel[1] - 1) * window.dilations[1] + 1;
  if (width > INT32_MAX / 4 / out[3]) return context.Fail(Code::kUnsupported, "its image is too large");
  const int64_t line = (width * out[3] + 2 * kHvxBytes - 1) / kHvxBytes * kHvxBytes;
  plan = {static_cast<int>(width), context.threads(), 2 * line};
  return RequestScratch(context, plan.threads * plan.thread_bytes + kHvxBytes);
}

// `to` = the largest of `count` rows, `step` bytes apart, byte by byte. Nothing behind the last byte is read.
LATHE_INLINE void LargestOf(const int8_t* from, int rows, int64_t step, int bytes, int8_t* to) {
  for (; bytes > 0; bytes -= kHvxBytes, from += kHvxBytes, to += kHvxBytes) {
    HVX_Vector best = Q6_Vb_vsplat_R(INT8_MIN);
    const int8_t* row = from;
    if (bytes >= kHvxBytes) {
      for (int i = 0; i < rows; ++i, row += step) best = Q6_Vb_vmax_VbVb(best, LoadAny(row));
      StoreAny(best, to);
    } else {
      for (int i = 0; i < rows; ++i, row += step) best = Q6_Vb_vmax_VbVb(best, LoadFew(row, bytes));
      StoreFew(best, bytes, to);
    }
  }
}

// `count` bytes, eight at a time as far as they go.
LATHE_INLINE void CopyPixel(int8_t* to, const int8_t* from, int count) {
  constexpr int kEight = 8, kFew = 64;
  if (count > kFew ||
      (reinterpret_cast<uintptr_t>(to) | reinterpret_cast<uintptr_t>(from) | static_cast<unsigned>(count)) % kEight !=
          0)
    return CopyBytes(to, from, count);
  for (int i = 0; i < count; i += kEight)
    *reinterpret_cast<uint64_t*>(to + i) = *reinterpret_cast<const uint64_t*>(from + i);
}

struct PoolJob {
  const State& state;
  const PoolPlan& plan;
  Shape in;
  Shape out;
  int first, last;  // pixels whose windows have a column of the image

  PoolJob(const RunContext& context)
      : state(context.State<State>()),
        plan(context.Plan<PoolPlan>()),
        in(context.inputs[0].shape),
        out(context.outputs[0].shape),
        first(0),
        last(static_cast<int>(out[2])) {
    const auto has_none = [this](int pixel) {
      const Taps taps = TapsInside(state.window, 1, pixel, in[2]);
      return taps.first == taps.last;
    };
    while (first < last && has_none(first)) ++first;
    while (first < last && has_none(last - 1)) --last;
  }

  // One line of the output. `columns` and `all`: lines of memory.
  void Run(const int8_t* image, int64_t y, int8_t* columns, int8_t* all, int8_t* to, int64_t step) const {
    const Window& window = state.window;
    const int channels = static_cast<int>(in[3]), line = plan.width * channels, pixels = static_cast<int>(out[2]);
    const int whole = static_cast<int>(in[2]) * channels, before = static_cast<int>(window.before[1]) * channels;
    const int left = before < line ? before : line, inside = whole < line - left ? whole : line - left;
    const Taps taps = TapsInside(window, 0, y, in[1]);
    const int rows = static_cast<int>(taps.last - taps.first);
    const int64_t top = taps.origin + taps.first * window.dilations[0];
    FillBytes(columns, left, INT8_MIN);
    LargestOf(image + (rows > 0 ? top * whole : 0), rows, window.dilations[0] * whole, inside, columns + left);
    FillBytes(columns + left + inside, line - left - inside, INT8_MIN);
    const int stride = static_cast<int>(window.strides[1]), kernel = static_cast<int>(window.kernel[1]);
    const int64_t dilation = window.dilations[1] * channels;
    if (stride == 1 && step == channels) {
      LargestOf(columns, kernel, dilation, pixels * channels, to);
    } else {
      LargestOf(columns, kernel, dilation, ((pixels - 1) * stride + 1) * channels, all);
      for (int pixel = 0; pixel < pixels; ++pixel)
        CopyPixel(to + pixel * step, all + pixel * stride * channels, channels);
    }
    if (state.fold.same || rows == 0) return;  // the largest number of none is the least there is
    const int together = step == channels ? last - first : 1;
    for (int pixel = first; pixel < last; pixel += together) {
      auto* bytes = reinterpret_cast<uint8_t*>(to + pixel * step);
      LookUp(state.fold.table, bytes, bytes, int64_t{together} * channels);
    }
  }
};

void RunPool(const RunContext& context) {
  const int64_t step = context.outputs[0].RowStep();
  if (context.outputs[0].shape.Count() == 0) return;
  const PoolJob job(context);
  auto* scratch = static_cast<int8_t*>(context.scratch);
  context.For(job.out[0] * job.out[1], 1, [&](int64_t begin, int64_t end, int thread) {
    int8_t* columns = scratch + thread * job.plan.thread_bytes;
    for (int64_t index = begin; index < end; ++index) {
      const int64_t batch = index / job.out[1], y = index - batch * job.out[1];
      job.Run(context.inputs[0].As<int8_t>() + batch * job.in.Count(1, 4), y, columns,
              columns + job.plan.thread_bytes / 2, context.outputs[0].As<int8_t>() + index * job.out[2] * step, step);
    }
  });
}

}  // namespace
}  // namespace lathe

LATHE_KERNEL = {
    .state_size = sizeof(lathe::State),
    .plan_size = sizeof(lathe::PoolPlan),
    .prepare = lathe::PreparePool,
    .plan = lathe::PlanPool,
    .run = lathe::RunPool,
};
