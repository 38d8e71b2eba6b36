// Products of rows of input with packed filters: the heart of convolutions and matrix products.
//
// Filters are packed as [group][panel of kPanelWidth outputs][tap][depth][kPanelWidth], zero padded, so that the
// innermost loop reads them in order. Inputs are given as one pointer per tap and pixel to `depth * groups`
// elements; a pixel outside of the image points to zeros. The order of additions per output is (tap, depth),
// whatever the thread; on ARM, a row that no other shares its tile with adds even and odd depths apart.
#ifndef LATHE_KERNEL_GEMM_PANELS_H_
#define LATHE_KERNEL_GEMM_PANELS_H_

#include "native/kernel/check.h"
#include "native/kernel/gemm/job_items.h"
#include "native/kernel/gemm/packing.h"
#include "native/kernel/math/activation.h"
#include "native/kernel/simd/simd.h"
#include "native/kernel/simd/vector_activation.h"

namespace lathe {
namespace {

// Filters are packed in panels of this many outputs: the same for all instruction sets of an ABI, which share them.
#if defined(__arm__) || defined(__aarch64__)
constexpr int kPanelWidth = sizeof(Element) == 2 ? 16 : 8;
#else
constexpr int kPanelWidth = 16;
#endif
constexpr int kChunkPixels = PanelChunkPixels(kLanes);

}  // namespace
inline namespace LATHE_ISA {

// The shape of packed filters.
struct PanelShape {
  int64_t groups;
  int64_t outputs;  // per group
  int64_t taps;
  int64_t depth;

  LATHE_INLINE int64_t panels() const { return DivideUp(outputs, kPanelWidth); }  // per group
  LATHE_INLINE int64_t panel_elements() const { return taps * depth * kPanelWidth; }
  LATHE_INLINE int64_t elements() const { return groups * panels() * panel_elements(); }
};

// One run over all pixels of an output whose channels are groups * outputs.
struct PanelJob {
  PanelShape shape;
  const Element* packed;
  const Element* bias;      // may be null
  const Element* residual;  // may be null; as many elements as the output
  Activation activation;
  decltype(&ActivateRows) activate;  // does what the tiles do not
  Element* output;
  int64_t pixels;
  char* scratch;  // PanelThreadBytes() per thread
  int64_t thread_bytes;
  int64_t output_step;  // from pixel to pixel; 0 where they stand close
  LATHE_INLINE int64_t channels() const { return shape.groups * shape.outputs; }
  LATHE_INLINE int64_t step() const { return output_step != 0 ? output_step : channels(); }
};

// Some pixels of a job, by one thread.
struct PanelChunk {
  int64_t pixel;  // the first
  int count;
  const Element** rows;  // per tap kChunkPixels pointers
  Element* packed;       // inputs in the order of the tiles, where they want one
};

}  // namespace LATHE_ISA
namespace {

// What of an activation the tiles do; `*rest` is whether something is left to be done.
inline void ReadClip(const Activation& activation, float* low, float* high, bool* rest) {
  *low = -HUGE_VALF;
  *high = HUGE_VALF;
  *rest = activation.kind > ActivationKind::kClip;
  if (activation.kind == ActivationKind::kRelu) *low = 0.0f;
  if (activation.kind != ActivationKind::kClip) return;
  *low = activation.alpha;
  *high = activation.beta;
}

}  // namespace
inline namespace LATHE_ISA {

// What writes, for `count` pixels from `pixel`, the pointers rows[tap * kChunkPixels + p].
struct PixelLocator {
  void (*call)(const void* self, int64_t pixel, int count, const Element** rows);
  const void* self;
};

// What follows is there once per instruction set, for all kernels: panels_unit.h.

// From [groups * outputs, taps, depth] to the packed order. Fills every element, padding included.
void PackPanels(const PanelShape& shape, const Element* from, Element* to);

// The scratch memory of one thread: the chunk that it has at hand, its pointers and its packed inputs.
int64_t PanelThreadBytes(const PanelShape& shape, int64_t pixels);

// The whole job by all threads, and by one of them.
void RunPanelJob(const RunContext& context, const PanelJob& job, const PixelLocator& locate);
void RunPanelJobAlone(const PanelJob& job, int thread, const PixelLocator& locate);

// All filters times `pixels` pixels from `pixel` on by this thread. Their inputs lie one after the other, and `packed`
// has room for kChunkPixels of them: PackedInputElements. `job.scratch` is not used.
void RunPanelBlock(const PanelJob& job, const Element* inputs, Element* packed, int64_t pixel, int64_t pixels);

// For those who cut the work themselves. The elements of PanelChunk::packed; the inputs of a chunk, which come first;
// and the chunk times panels [begin, end), counted through all groups.
int64_t PackedInputElements(const PanelShape& shape, int64_t pixels);
void PackInputs(const PanelJob& job, const PanelChunk& chunk);
void RunPanelRange(const PanelJob& job, const PanelChunk& chunk, int64_t begin, int64_t end);

}  // namespace LATHE_ISA
namespace {

constexpr int64_t kChunkHeadBytes = 64;  // of a thread's scratch: the number of the chunk that it has at hand

// The chunk of a thread, in its scratch.
inline PanelChunk ChunkOfThread(const PanelJob& job, int thread) {
  PanelChunk chunk = {};
  chunk.rows = reinterpret_cast<const Element**>(job.scratch + thread * job.thread_bytes + kChunkHeadBytes);
  chunk.packed = reinterpret_cast<Element*>(chunk.rows + job.shape.taps * kChunkPixels);
  return chunk;
}

// Makes a thread forget the inputs that it has at hand.
inline void ForgetChunk(const PanelJob& job, int thread) {
  *reinterpret_cast<int64_t*>(job.scratch + thread * job.thread_bytes) = -1;
}

// `locate(pixel, count, rows)` is as said of PixelLocator.
template <typename Locate>
inline PixelLocator LocatorOf(const Locate& locate) {
  return {[](const void* self, int64_t pixel, int count, const Element** rows) {
            (*static_cast<const Locate*>(self))(pixel, count, rows);
          },
          &locate};
}

template <typename Locate>
inline void RunPanelJob(const RunContext& context, const PanelJob& job, const Locate& locate) {
  RunPanelJob(context, job, LocatorOf(locate));
}

// How constant filters may come packed.
constexpr Packing kPanelPacking = kPanelWidth == 8 ? Packing::kPanels8 : Packing::kPanels16;

// Filters that came packed, or are packed at create where they are constant, else at each run into scratch.
struct PanelState {
  PanelShape shape;
  const Element* packed;  // null: not constant
  Activation activation;
};

// `weights` is [groups * outputs, taps, depth] in `shape`, or packed; its shape was checked.
inline Code PreparePanels(PrepareContext& context, const Tensor& weights, PanelState* state) {
  if (weights.shape.Count() > kMaxPackedElements) return context.Fail(Code::kUnsupported, "its filters are too large");
  if (!weights.is_constant()) return Code::kOk;
  state->packed = weights.As<Element>();
  if (weights.packing == kPanelPacking) return Code::kOk;
  Element* packed = nullptr;
  LATHE_TRY(AllocateArray(context, state->shape.elements(), &packed));
  PackPanels(state->shape, weights.As<Element>(), packed);
  state->packed = packed;
  return Code::kOk;
}

// What a session keeps of a job.
struct PanelPlan {
  int64_t threads;
  int64_t thread_bytes;
};

// Asks for scratch: all threads' own, and `extra` elements.
inline Code PlanJob(PlanContext& context, const PanelShape& shape, int64_t pixels, int64_t extra, PanelPlan* plan) {
  if (shape.taps > kMaxPackedElements) return context.Fail(Code::kUnsupported, "its window is too large");
  plan->threads = context.threads();
  plan->thread_bytes = PanelThreadBytes(shape, pixels);
  return RequestScratch(context, plan->thread_bytes * plan->threads + extra * static_cast<int64_t>(sizeof(Element)));
}

// What run does first: carves the scratch. `*extra` is not cleared.
inline PanelJob StartJob(const RunContext& context, const PanelShape& shape, const PanelPlan& plan, int64_t pixels,
                         Element** extra) {
  PanelJob job = {};
  job.shape = shape;
  job.output = context.outputs[0].As<Element>();
  job.pixels = pixels;
  job.scratch = static_cast<char*>(context.scratch);
  job.thread_bytes = plan.thread_bytes;
  for (int thread = 0; thread < plan.threads; ++thread) ForgetChunk(job, thread);
  *extra = reinterpret_cast<Element*>(job.scratch + plan.threads * plan.thread_bytes);
  return job;
}

// The same with room for filters that are not constant.
inline Code PlanPanels(PlanContext& context, const PanelState& state, int64_t pixels, int64_t extra, PanelPlan* plan) {
  const int64_t elements = state.packed == nullptr ? state.shape.elements() : 0;
  return PlanJob(context, state.shape, pixels, elements + extra, plan);
}

inline PanelJob StartPanels(const RunContext& context, const PanelState& state, const PanelPlan& plan, int64_t pixels,
                            Element** extra) {
  PanelJob job = StartJob(context, state.shape, plan, pixels, extra);
  job.activation = state.activation;
  job.activate = ActivateRows;
  job.bias = context.input_count > 2 ? context.inputs[2].As<Element>() : nullptr;
  job.packed = state.packed;
  if (state.packed == nullptr) {
    PackPanels(state.shape, context.inputs[1].As<Element>(), *extra);
    job.packed = *extra;
    *extra += state.shape.elements();
  }
  return job;
}

}  // namespace
}  // namespace lathe

#endif  // LATHE_KERNEL_GEMM_PANELS_H_
