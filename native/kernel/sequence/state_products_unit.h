// Compiled once for each instruction set: native/kernel/units.yaml.
//
// One state goes by all weights for two operations on each: what limits that is how fast weights come from the cache,
// so that as many panels go by together as it takes to never wait for a sum. Several states go by one panel at a time.
// Their tiles are those of panels.h on ARM; elsewhere those are for many more rows, and layers have few. Either way,
// additions are in the order of the depth. A panel is written as a whole, into rows that have room for it.
#ifndef LATHE_KERNEL_SEQUENCE_STATE_PRODUCTS_UNIT_H_
#define LATHE_KERNEL_SEQUENCE_STATE_PRODUCTS_UNIT_H_

#include "native/kernel/sequence/state_products.h"
#include "native/kernel/simd/simd.h"

#if defined(__ARM_NEON) && defined(__ARM_FEATURE_FMA)
#define LATHE_CELLS_BY_PANELS
#endif

namespace lathe {
namespace {

constexpr int kLineVectors = kPanelWidth / kLanes;  // of a panel
constexpr int kLinePanels = 8 / kLineVectors;       // that go by together: eight sums
static_assert(kLinePanels * kLineVectors == 8, "a panel has a power of two of vectors");

// Some rows times some panels.
template <int rows, int panels>
inline void RunRows(const CellStep& step, int first, const float* weights, float* to) {
  Vec sums[rows][panels][kLineVectors];
  const float* states[rows];
#pragma GCC unroll 8
  for (int r = 0; r < rows; ++r) {
    states[r] = step.rows[first + r];
#pragma GCC unroll 8
    for (int i = 0; i < panels; ++i) {
#pragma GCC unroll 8
      for (int j = 0; j < kLineVectors; ++j) sums[r][i][j] = Fill(0.0f);
    }
  }
  const int64_t panel = step.hidden * kPanelWidth;
  for (int64_t k = 0; k < step.hidden; ++k, weights += kPanelWidth) {
    Vec w[panels][kLineVectors];
#pragma GCC unroll 8
    for (int i = 0; i < panels; ++i) {
#pragma GCC unroll 8
      for (int j = 0; j < kLineVectors; ++j) w[i][j] = Load(weights + i * panel + j * kLanes);
    }
#pragma GCC unroll 8
    for (int r = 0; r < rows; ++r) {
      const Vec x = Fill(states[r][k]);
#pragma GCC unroll 8
      for (int i = 0; i < panels; ++i) {
#pragma GCC unroll 8
        for (int j = 0; j < kLineVectors; ++j) sums[r][i][j] = MulAdd(x, w[i][j], sums[r][i][j]);
      }
    }
  }
#pragma GCC unroll 8
  for (int r = 0; r < rows; ++r) {
#pragma GCC unroll 8
    for (int i = 0; i < panels; ++i) {
#pragma GCC unroll 8
      for (int j = 0; j < kLineVectors; ++j) {
        Store(to + (first + r) * step.row + i * kPanelWidth + j * kLanes, sums[r][i][j]);
      }
    }
  }
}

#if !defined(LATHE_CELLS_BY_PANELS)
// As many as the registers hold the sums of.
constexpr int kMostRows = kLanes == 16 ? 8 : kLanes == 8 ? 6 : 2;

// Of so many rows, those that one tile takes. A last row alone would wait for its sums.
inline int RowsOfTile(int left) {
  if (kMostRows == 2) return left < 2 ? left : 2;
  if (left >= 8 && kMostRows == 8) return 8;
  if (left >= 6 && left != 7 && left != 8 && left != 11) return 6;
  return left == 5 ? 3 : left < 4 ? left : 4;
}

// Two rows or more times one panel.
inline void RunPanel(const CellStep& step, const float* weights, float* to) {
  for (int row = 0; row < step.count;) {
    const int rows = RowsOfTile(step.count - row);
    switch (rows) {
      case 8:
        if constexpr (kMostRows == 8) RunRows<8, 1>(step, row, weights, to);
        break;
      case 6:
        if constexpr (kMostRows > 2) RunRows<6, 1>(step, row, weights, to);
        break;
      case 4:
        if constexpr (kMostRows > 2) RunRows<4, 1>(step, row, weights, to);
        break;
      case 3:
        if constexpr (kMostRows > 2) RunRows<3, 1>(step, row, weights, to);
        break;
      case 2:
        RunRows<2, 1>(step, row, weights, to);
        break;
      default:
        RunRows<1, 1>(step, row, weights, to);
    }
    row += rows;
  }
}
#endif

// Products of a step that are worth a thread: about two microseconds.
constexpr int64_t kWorthAThread = 49152;

// Panels [begin, end). `job` and `chunk` are for the tiles of panels.h, and their inputs are packed.
inline void RunPart(const CellStep& step, const PanelJob& job, const PanelChunk& chunk, int64_t begin, int64_t end) {
#if defined(LATHE_CELLS_BY_PANELS)
  if (step.count > 1) return RunPanelRange(job, chunk, begin, end);
#else
  static_cast<void>(chunk);
#endif
  const int64_t panel = step.hidden * kPanelWidth;
  for (int64_t at = begin; at < end;) {
    const int64_t left = end - at;
    const float* weights = step.packed + at * panel;
    float* to = job.output + at * kPanelWidth;
#if !defined(LATHE_CELLS_BY_PANELS)
    if (step.count > 1) {
      RunPanel(step, weights, to);
      ++at;
      continue;
    }
#endif
    if (left >= kLinePanels) {
      RunRows<1, kLinePanels>(step, 0, weights, to);
      at += kLinePanels;
    } else if (kLinePanels > 2 && left >= 2) {
      RunRows<1, 2>(step, 0, weights, to);
      at += 2;
    } else {
      RunRows<1, 1>(step, 0, weights, to);
      at += 1;
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
#if defined(LATHE_CELLS_BY_PANELS)
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
