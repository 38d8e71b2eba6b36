// What products with packed filters are asked for, whatever computes them; see panels.h.
#ifndef LATHE_KERNEL_GEMM_PANEL_JOB_H_
#define LATHE_KERNEL_GEMM_PANEL_JOB_H_

#include "native/kernel/check.h"
#include "native/kernel/gemm/job_items.h"
#include "native/kernel/math/activation.h"
#include "native/kernel/simd/simd.h"
#include "native/kernel/simd/vector_element.h"
#include "native/runtime/kernel.h"

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
  void (*activate)(const Activation& activation, Element* values, int64_t count);  // does what the tiles do not
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
}  // namespace lathe

#endif  // LATHE_KERNEL_GEMM_PANEL_JOB_H_
