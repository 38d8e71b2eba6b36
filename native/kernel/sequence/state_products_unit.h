// Compiled once for each instruction set: native/kernel/units.yaml.
//
// One state goes by all weights for two operations on each: what limits that is how fast weights come from the cache,
// so that as many panels go by together as it takes to never wait for a sum. The tiles of several states are those of
// panels.h. Either way, additions are in the order of the depth. A panel is written as a whole, into rows that have
// room for it.
#ifndef LATHE_KERNEL_SEQUENCE_STATE_PRODUCTS_UNIT_H_
#define LATHE_KERNEL_SEQUENCE_STATE_PRODUCTS_UNIT_H_

#include "native/kernel/sequence/state_products.h"
#include "native/kernel/simd/simd.h"

namespace lathe {
namespace {

constexpr int kLineVectors = kPanelWidth / kLanes;  // of a panel
constexpr int kLinePanels = 8 / kLineVectors;       // that go by together: eight sums
static_assert(kLinePanels * kLineVectors == 8, "a panel has a power of two of vectors");

template <int panels>
inline void RunLine(const float* state, const float* weights, int64_t depth, float* to) {
  Vec sums[panels][kLineVectors];
#pragma GCC unroll 8
  for (int i = 0; i < panels; ++i) {
#pragma GCC unroll 8
    for (int j = 0; j < kLineVectors; ++j) sums[i][j] = Fill(0.0f);
  }
  const int64_t panel = depth * kPanelWidth;
  for (int64_t k = 0; k < depth; ++k, weights += kPanelWidth) {
    const Vec x = Fill(state[k]);
#pragma GCC unroll 8
    for (int i = 0; i < panels; ++i) {
#pragma GCC unroll 8
      for (int j = 0; j < kLineVectors; ++j) {
        sums[i][j] = MulAdd(x, Load(weights + i * panel + j * kLanes), sums[i][j]);
      }
    }
  }
#pragma GCC unroll 8
  for (int i = 0; i < panels; ++i) {
#pragma GCC unroll 8
    for (int j = 0; j < kLineVectors; ++j) Store(to + i * kPanelWidth + j * kLanes, sums[i][j]);
  }
}

// Products of a step that are worth a thread: about two microseconds.
constexpr int64_t kWorthAThread = 49152;

// Panels [begin, end). The inputs of several rows are packed.
inline void RunPart(const CellStep& step, const PanelJob& job, const PanelChunk& chunk, int64_t begin, int64_t end) {
#if !defined(LATHE_ISA_PORTABLE)  // whose tiles are not worth their size
  if (chunk.count > 1) return RunPanelRange(job, chunk, begin, end);
#endif
  const int64_t depth = step.hidden;
  const int64_t panel = depth * kPanelWidth;
  for (int row = 0; row < chunk.count; ++row) {
    const float* state = step.rows[row];
    for (int64_t at = begin; at < end;) {
      const int64_t left = end - at;
      const float* weights = step.packed + at * panel;
      float* to = job.output + row * step.row + at * kPanelWidth;
      if (left >= kLinePanels) {
        RunLine<kLinePanels>(state, weights, depth, to);
        at += kLinePanels;
      } else if (kLinePanels > 2 && left >= 2) {
        RunLine<2>(state, weights, depth, to);
        at += 2;
      } else {
        RunLine<1>(state, weights, depth, to);
        at += 1;
      }
    }
  }
}

}  // namespace

inline namespace LATHE_ISA {

void RunStateProduct(const CellStep& step, int64_t outputs, int64_t begin, int64_t end, float* sums) {
  PanelJob job = {};
  job.shape = {1, outputs, 1, step.hidden};
  job.packed = step.packed;
  job.output = sums;
  job.output_step = step.row;
  const PanelChunk chunk = {0, step.count, step.rows, step.inputs};
#if !defined(LATHE_ISA_PORTABLE)
  if (step.count > 1) PackInputs(job, chunk);
#endif
  const int64_t panels = end - begin;
  if (step.parts == 1 || panels * kPanelWidth * step.hidden * step.count < 2 * kWorthAThread)
    return RunPart(step, job, chunk, begin, end);
  const int64_t groups = DivideUp(panels, kLinePanels);
  const auto bound = [&](int64_t part) {
    const int64_t at = begin + groups * part / step.parts * kLinePanels;
    return at < end ? at : end;
  };
  step.context->For(step.parts, 1,
                    [&](int64_t first, int64_t last, int) { RunPart(step, job, chunk, bound(first), bound(last)); });
}

}  // namespace LATHE_ISA
}  // namespace lathe

#endif  // LATHE_KERNEL_SEQUENCE_STATE_PRODUCTS_UNIT_H_
