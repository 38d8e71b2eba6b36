// Products with filters that stay as the model file stores them, in panels. What one or a few rows of input take is the
// time in which filters come from memory: halves need half of it, four bits an eighth. More rows share a panel that was
// expanded for them.
#ifndef LATHE_KERNEL_GEMM_STORED_PANELS_H_
#define LATHE_KERNEL_GEMM_STORED_PANELS_H_

#include "native/kernel/gemm/panels.h"
#include "native/kernel/gemm/stored_numbers.h"
#include "native/kernel/simd/simd.h"

namespace lathe {
namespace {

constexpr int kFewRows = 4;

// The filters of a job of one group and one tap.
struct StoredFilters {
  StoredNumbers numbers;
  PanelShape shape;
};

inline Code PrepareStored(PrepareContext& context, const StoredNumbers& stored, const PanelShape& shape,
                          StoredFilters* filters) {
  const bool fits = !kStoredHasScales || (stored.depth == shape.depth && stored.width == kPanelWidth);
  if (!fits) return context.Fail(Code::kBadModel, "the scales of its weights do not fit their panels");
  *filters = {stored, shape};
  if (!kStoredHasScales) filters->numbers.block = shape.depth;
  return Code::kOk;
}

inline const uint8_t* PanelOf(const StoredFilters& filters, int64_t panel) {
  return filters.numbers.numbers + panel * filters.shape.depth * kStoredRowBytes;
}

// The row of depth that has no other: zeros stand for that.
inline void LastRow(const uint8_t* from, RowOfPanel& row) {
  uint8_t two[2 * kStoredRowBytes] = {};
  memcpy(two, from, kStoredRowBytes);
  RowOfPanel none;
  TwoRows(two, row, none);
}

inline void LoadScalesOf(const StoredFilters& filters, int64_t panel, int64_t block, RowOfPanel& scales) {
  const int64_t blocks = DivideUp(filters.shape.depth, filters.numbers.block);
  LoadScales(filters.numbers, (panel * blocks + block) * kPanelWidth, scales);
}

template <int rows>
inline void AddRow(const float* const (&x)[rows], int64_t k, const RowOfPanel& numbers,
                   Vec (&sums)[rows][kRowVectorsOfPanel]) {
#pragma GCC unroll 4
  for (int i = 0; i < rows; ++i) {
    const Vec input = Fill(x[i][k]);
#pragma GCC unroll 4
    for (int j = 0; j < kRowVectorsOfPanel; ++j) sums[i][j] = MulAdd(input, numbers[j], sums[i][j]);
  }
}

// The sums of rows of depth [k, end) with the numbers of one panel, which begin at `from`. Sums that do not wait for
// each other: four of each for a single row of input.
template <int rows>
inline void SumNumbers(const uint8_t* from, const float* const (&x)[rows], int64_t k, int64_t end,
                       Vec (&sums)[rows][kRowVectorsOfPanel]) {
  constexpr int kSets = rows == 1 ? 4 : 1;
  Vec sets[kSets][rows][kRowVectorsOfPanel];
#pragma GCC unroll 4
  for (auto& set : sets) {
#pragma GCC unroll 4
    for (auto& row : set) {
#pragma GCC unroll 4
      for (Vec& sum : row) sum = Fill(0.0f);
    }
  }
  RowOfPanel numbers[2];
  for (; k + 3 < end; k += 4, from += 4 * kStoredRowBytes) {
    TwoRows(from, numbers[0], numbers[1]);
    AddRow(x, k, numbers[0], sets[0]);
    AddRow(x, k + 1, numbers[1], sets[1 % kSets]);
    TwoRows(from + 2 * kStoredRowBytes, numbers[0], numbers[1]);
    AddRow(x, k + 2, numbers[0], sets[2 % kSets]);
    AddRow(x, k + 3, numbers[1], sets[3 % kSets]);
  }
  for (; k < end; ++k, from += kStoredRowBytes) {
    LastRow(from, numbers[0]);
    AddRow(x, k, numbers[0], sets[0]);
  }
#pragma GCC unroll 4
  for (int i = 0; i < rows; ++i) {
#pragma GCC unroll 4
    for (int j = 0; j < kRowVectorsOfPanel; ++j) {
      sums[i][j] = sets[0][i][j];
      if constexpr (kSets == 4) {
        sums[i][j] = Add(Add(sets[0][i][j], sets[1][i][j]), Add(sets[2][i][j], sets[3][i][j]));
      }
    }
  }
}

// A few rows of input times one panel, without bias.
template <int rows>
__attribute__((noinline)) void MultiplyPanel(const StoredFilters& filters, int64_t panel, const float* const (&x)[rows],
                                             Vec (&products)[rows][kRowVectorsOfPanel]) {
  const uint8_t* const numbers = PanelOf(filters, panel);
  const int64_t depth = filters.shape.depth, step = filters.numbers.block;
  for (auto& row : products) {
    for (Vec& product : row) product = Fill(0.0f);
  }
  for (int64_t block = 0, k = 0; k < depth; ++block, k += step) {
    Vec sums[rows][kRowVectorsOfPanel];
    SumNumbers(numbers + k * kStoredRowBytes, x, k, k + step < depth ? k + step : depth, sums);
    RowOfPanel scales;
    for (Vec& scale : scales) scale = Fill(1.0f);
    if (kStoredHasScales) LoadScalesOf(filters, panel, block, scales);
    for (int i = 0; i < rows; ++i) {
      for (int j = 0; j < kRowVectorsOfPanel; ++j) products[i][j] = MulAdd(sums[i][j], scales[j], products[i][j]);
    }
  }
  for (auto& row : products) InOrder(row);
}

// Panels [begin, end) for the first rows of input, at most kFewRows.
template <int rows>
void MultiplyFewRows(const PanelJob& job, const StoredFilters& filters, const float* input, int64_t begin,
                     int64_t end) {
  const float* x[rows];
  for (int64_t i = 0; i < rows; ++i) x[i] = input + (i < job.pixels ? i : job.pixels - 1) * filters.shape.depth;
  bool rest = false;
  float low = 0.0f, high = 0.0f;
  ReadClip(job.activation, &low, &high, &rest);
  const int64_t outputs = filters.shape.outputs, step = job.step();
  for (int64_t panel = begin; panel < end; ++panel) {
    Vec products[rows][kRowVectorsOfPanel];
    MultiplyPanel<rows>(filters, panel, x, products);
    for (int j = 0; j < kRowVectorsOfPanel; ++j) {
      const int64_t first = panel * kPanelWidth + j * kLanes;
      if (first >= outputs) break;
      const int count = static_cast<int>(outputs - first < kLanes ? outputs - first : kLanes);
      const Vec bias = job.bias != nullptr ? LoadPart(job.bias + first, count) : Fill(0.0f);
      for (int i = 0; i < rows && i < job.pixels; ++i) {
        const Vec y = AtMost(AtLeast(Add(products[i][j], bias), Fill(low)), Fill(high));
        StorePart(job.output + i * step + first, y, count);
      }
    }
  }
  const int64_t first = begin * kPanelWidth, last = end * kPanelWidth < outputs ? end * kPanelWidth : outputs;
  if (rest) job.activate(job.activation, job.output + first, static_cast<int>(job.pixels), step, last - first);
}

__attribute__((noinline)) void ExpandPanel(const StoredFilters& filters, int64_t panel, float* to) {
  const uint8_t* from = PanelOf(filters, panel);
  const int64_t depth = filters.shape.depth, step = filters.numbers.block;
  for (int64_t block = 0, k = 0; k < depth; ++block) {
    RowOfPanel scales;
    for (Vec& scale : scales) scale = Fill(1.0f);
    if (kStoredHasScales) LoadScalesOf(filters, panel, block, scales);
    const int64_t end = k + step < depth ? k + step : depth;
    for (int count = 2; k < end; k += count, from += count * kStoredRowBytes) {
      RowOfPanel rows[2];
      if (k + 1 < end) {
        TwoRows(from, rows[0], rows[1]);
      } else {
        LastRow(from, rows[0]);
        count = 1;
      }
      for (int i = 0; i < count; ++i) {
        for (int j = 0; j < kRowVectorsOfPanel; ++j) rows[i][j] = Mul(rows[i][j], scales[j]);
        InOrder(rows[i]);
        for (int j = 0; j < kRowVectorsOfPanel; ++j, to += kLanes) Store(to, rows[i][j]);
      }
    }
  }
}

constexpr int64_t kStoredChunkStep = 24;  // a multiple of the rows of every tile

// What a thread needs besides PanelThreadBytes, and before it.
inline int64_t ExpandedBytes(const PanelShape& shape) {
  return DivideUp(shape.panel_elements() * static_cast<int64_t>(sizeof(float)), 64) * 64;
}

// The whole job: rows of input lie one after the other. `job.thread_bytes` has ExpandedBytes in it.
void RunStoredJob(const RunContext& context, const PanelJob& job, const StoredFilters& filters, const float* input) {
  const PanelShape& shape = filters.shape;
  const int64_t panels = shape.panels();
  if (job.pixels == 0) return;
  if (job.pixels <= kFewRows) {
    context.For(panels, 2, [&](int64_t begin, int64_t end, int) {
      if (job.pixels == 1) {
        MultiplyFewRows<1>(job, filters, input, begin, end);
      } else {
        MultiplyFewRows<kFewRows>(job, filters, input, begin, end);
      }
    });
    return;
  }
  const JobItems items(job.pixels, panels, kChunkPixels - kChunkPixels % kStoredChunkStep, kStoredChunkStep, 1);
  context.For(items.count, 1, [&](int64_t begin, int64_t end, int thread) {
    char* const scratch = job.scratch + thread * job.thread_bytes;
    float* const expanded = reinterpret_cast<float*>(scratch);
    PanelChunk chunk = {};
    chunk.rows = reinterpret_cast<const Element**>(scratch + ExpandedBytes(shape));
    chunk.packed = reinterpret_cast<Element*>(chunk.rows + kChunkPixels);
    int64_t at_hand = -1;
    for (int64_t index = begin; index < end; ++index) {
      const JobItem item = items[index];
      chunk.pixel = item.pixel;
      chunk.count = item.count;
      if (item.chunk != at_hand) {
        for (int p = 0; p < item.count; ++p) chunk.rows[p] = input + (item.pixel + p) * shape.depth;
        PackInputs(job, chunk);
        at_hand = item.chunk;
      }
      PanelJob part = job;
      part.packed = expanded;
      part.output_step = job.step();
      for (int64_t panel = item.begin; panel < item.end; ++panel) {
        const int64_t first = panel * kPanelWidth;
        ExpandPanel(filters, panel, expanded);
        part.shape.outputs = shape.outputs - first < kPanelWidth ? shape.outputs - first : kPanelWidth;
        part.output = job.output + first;
        part.bias = job.bias != nullptr ? job.bias + first : nullptr;
        RunPanelRange(part, chunk, 0, 1);
      }
    }
  });
}

}  // namespace
}  // namespace lathe

#endif  // LATHE_KERNEL_GEMM_STORED_PANELS_H_
