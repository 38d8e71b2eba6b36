// Products of rows of input with packed filters: the heart of convolutions and matrix products.
//
// Filters are packed as [group][panel of kPanelWidth outputs][tap][depth][kPanelWidth], zero padded, so that the
// innermost loop reads them in order. Inputs are given as one pointer per tap and pixel to `depth * groups` floats; a
// pixel outside of the image points to zeros. The order of additions per output is (tap, depth), whatever the tile or
// thread.
//
// The header of an instruction set (vector_*.h) goes before this one.
#ifndef LATHE_CORE_PANELS_H_
#define LATHE_CORE_PANELS_H_

#include "native/core/packing.h"
#include "native/core/vector_activation.h"
#if defined(__ARM_NEON)
#include "native/core/panel_tiles_arm.h"
#else
#include "native/core/panel_tiles.h"
#endif

namespace lathe {
namespace {

// Panels [begin, end), counted through all groups.
inline void RunPanelRange(const PanelJob& job, const PanelChunk& chunk, int64_t begin, int64_t end) {
  const int64_t panels = job.shape.panels();
  while (begin < end) {
    const int64_t group = begin / panels;
    const int64_t first = begin - group * panels;
    const int64_t rest = panels - first;
    const int64_t taken = rest < end - begin ? rest : end - begin;
    const int64_t last = (first + taken) * kPanelWidth;
    RunPanels(job, chunk, group, first * kPanelWidth, last < job.shape.outputs ? last : job.shape.outputs);
    begin += taken;
  }
}

// A job in items of parallel work: a chunk of pixels times some panels.
struct PanelItems {
  int64_t chunk_pixels;
  int64_t splits;  // of the panels
  int64_t panels;  // of an item
  int64_t count;

  explicit PanelItems(const PanelJob& job) {
    constexpr int64_t kItems = 64;  // enough for any number of cores; few pixels are split by outputs
    const int64_t all = job.shape.groups * job.shape.panels();
    const int64_t most = DivideUp(job.pixels, kChunkPixels);
    count = 0;
    if (most == 0 || all == 0) return;
    chunk_pixels = DivideUp(DivideUp(job.pixels, most), kChunkStep) * kChunkStep;
    const int64_t chunks = DivideUp(job.pixels, chunk_pixels);
    panels = DivideUp(DivideUp(all, DivideUp(kItems, chunks)), kItemPanels) * kItemPanels;
    splits = DivideUp(all, panels);
    count = chunks * splits;
  }
};

// The scratch memory of one thread: the chunk that it has at hand, its pointers and its packed inputs.
constexpr int64_t kChunkHeadBytes = 64;
inline int64_t ThreadBytes(const PanelShape& shape, int64_t pixels) {
  const int64_t most = pixels < kChunkPixels ? pixels : kChunkPixels;
  const int64_t bytes = kChunkHeadBytes + shape.taps * kChunkPixels * static_cast<int64_t>(sizeof(float*)) +
                        PackedFloats(shape, most) * static_cast<int64_t>(sizeof(float));
  return DivideUp(bytes, 64) * 64;
}

// Makes a thread forget the inputs that it has at hand.
inline void ForgetChunk(const PanelJob& job, int thread) {
  *reinterpret_cast<int64_t*>(job.scratch + thread * job.thread_bytes) = -1;
}

// What writes, for `count` pixels from `pixel`, the pointers rows[tap * kChunkPixels + p].
struct PixelLocator {
  void (*call)(const void* self, int64_t pixel, int count, const float** rows);
  const void* self;

  template <typename Locate>
  static PixelLocator Of(const Locate& locate) {
    return {[](const void* self, int64_t pixel, int count, const float** rows) {
              (*static_cast<const Locate*>(self))(pixel, count, rows);
            },
            &locate};
  }
};

// Items [begin, end).
[[maybe_unused]] __attribute__((noinline)) inline void RunPanelItems(const PanelJob& job, const PanelItems& items,
                                                                     int64_t begin, int64_t end, int thread,
                                                                     const PixelLocator& locate) {
  char* const scratch = job.scratch + thread * job.thread_bytes;
  int64_t* const at_hand = reinterpret_cast<int64_t*>(scratch);
  PanelChunk chunk = {};
  chunk.rows = reinterpret_cast<const float**>(scratch + kChunkHeadBytes);
  chunk.packed = reinterpret_cast<float*>(chunk.rows + job.shape.taps * kChunkPixels);
  const int64_t panels = job.shape.groups * job.shape.panels();
  for (int64_t item = begin; item < end; ++item) {
    const int64_t number = item / items.splits;
    chunk.pixel = number * items.chunk_pixels;
    const int64_t rest = job.pixels - chunk.pixel;
    chunk.count = static_cast<int>(rest < items.chunk_pixels ? rest : items.chunk_pixels);
    if (number != *at_hand) {
      locate.call(locate.self, chunk.pixel, chunk.count, chunk.rows);
      PackChunk(job, chunk);
      *at_hand = number;
    }
    const int64_t first = (item - number * items.splits) * items.panels;
    RunPanelRange(job, chunk, first, first + items.panels < panels ? first + items.panels : panels);
  }
}

[[maybe_unused]] __attribute__((noinline)) inline void RunPanelJob(const RunContext& context, const PanelJob& job,
                                                                   const PixelLocator& locate) {
  const PanelItems items(job);
  context.For(items.count, 1,
              [&](int64_t begin, int64_t end, int thread) { RunPanelItems(job, items, begin, end, thread, locate); });
}

// `locate(pixel, count, rows)` is as said of PixelLocator.
template <typename Locate>
inline void RunPanelJob(const RunContext& context, const PanelJob& job, const Locate& locate) {
  RunPanelJob(context, job, PixelLocator::Of(locate));
}

// How constant filters may come packed.
constexpr Packing kPanelPacking = kPanelWidth == 8 ? Packing::kPanels8 : Packing::kPanels16;

// Filters that came packed, or are packed at create where they are constant, else at each run into scratch.
struct PanelState {
  PanelShape shape;
  const float* packed;  // null: not constant
  Activation activation;
};

// `weights` is [groups * outputs, taps, depth] in `shape`, or packed; its shape was checked.
inline Code PreparePanels(PrepareContext& context, const Tensor& weights, PanelState* state) {
  if (weights.shape.Count() > kMaxPackedElements) return context.Fail(Code::kUnsupported, "its filters are too large");
  if (!weights.is_constant()) return Code::kOk;
  state->packed = weights.As<float>();
  if (weights.packing == kPanelPacking) return Code::kOk;
  float* packed = nullptr;
  LATHE_TRY(AllocateArray(context, state->shape.floats(), &packed));
  PackPanels(state->shape, weights.As<float>(), packed);
  state->packed = packed;
  return Code::kOk;
}

// What a session keeps of a job.
struct PanelPlan {
  int64_t threads;
  int64_t thread_bytes;
};

// Asks for scratch: all threads' own, and `extra` floats.
inline Code PlanJob(PlanContext& context, const PanelShape& shape, int64_t pixels, int64_t extra, PanelPlan* plan) {
  if (shape.taps > kMaxPackedElements) return context.Fail(Code::kUnsupported, "its window is too large");
  plan->threads = context.threads();
  plan->thread_bytes = ThreadBytes(shape, pixels);
  return RequestScratch(context, plan->thread_bytes * plan->threads + extra * static_cast<int64_t>(sizeof(float)));
}

// What run does first: carves the scratch. `*extra` is not cleared.
inline PanelJob StartJob(const RunContext& context, const PanelShape& shape, const PanelPlan& plan, int64_t pixels,
                         float** extra) {
  PanelJob job = {};
  job.shape = shape;
  job.output = context.outputs[0].As<float>();
  job.pixels = pixels;
  job.scratch = static_cast<char*>(context.scratch);
  job.thread_bytes = plan.thread_bytes;
  for (int thread = 0; thread < plan.threads; ++thread) ForgetChunk(job, thread);
  *extra = reinterpret_cast<float*>(job.scratch + plan.threads * plan.thread_bytes);
  return job;
}

// The same with room for filters that are not constant.
inline Code PlanPanels(PlanContext& context, const PanelState& state, int64_t pixels, int64_t extra, PanelPlan* plan) {
  const int64_t floats = state.packed == nullptr ? state.shape.floats() : 0;
  return PlanJob(context, state.shape, pixels, floats + extra, plan);
}

inline PanelJob StartPanels(const RunContext& context, const PanelState& state, const PanelPlan& plan, int64_t pixels,
                            float** extra) {
  PanelJob job = StartJob(context, state.shape, plan, pixels, extra);
  job.activation = state.activation;
  job.activate = ActivateAll;
  job.bias = context.input_count > 2 ? context.inputs[2].As<float>() : nullptr;
  job.packed = state.packed;
  if (state.packed == nullptr) {
    PackPanels(state.shape, context.inputs[1].As<float>(), *extra);
    job.packed = *extra;
    *extra += state.shape.floats();
  }
  return job;
}

}  // namespace
}  // namespace lathe

#endif  // LATHE_CORE_PANELS_H_
