// Rows of a depthwise convolution with a small square window: the inner loop, for kernels that hold the rows of
// their input in whatever way.
//
// A vector of channels goes over the columns of the image. Each column is loaded once per row and added to all
// outputs that it is part of, whose sums stay in registers; the sum that a column completes is stored, and its
// register begins the next output. Columns of padding add nothing and cost nothing.
#ifndef LATHE_KERNEL_DEPTHWISE_DEPTHWISE_ROWS_H_
#define LATHE_KERNEL_DEPTHWISE_DEPTHWISE_ROWS_H_

#include "native/kernel/depthwise/depthwise.h"
#include "native/kernel/simd/simd.h"

namespace lathe {
namespace {

// The state of one or two vectors of channels on their way along the columns.
template <int kernel, int stride, int vectors>
struct DwSweep {
  static constexpr int rows = kDwRows<kernel>;
  static constexpr int lines = DwInputs(kernel, stride, rows);
  static constexpr int open = (kernel - 1) / stride;  // outputs that have begun when a step begins
  static constexpr int slots = open + 1;

  const Element* inputs[lines];
  Vec weights[kernel * kernel][vectors];
  Vec bias[vectors];
  Vec low;
  Vec high;
  Vec sums[rows][slots][vectors];  // `turn` is the slot of the output that is completed next
};

// Adds column `column` of a step, which lies `offset` elements behind `inputs`.
template <int column, int kernel, int stride, int vectors>
inline __attribute__((always_inline)) void AddColumn(DwSweep<kernel, stride, vectors>& sweep, int turn,
                                                     ptrdiff_t offset) {
  using Sweep = DwSweep<kernel, stride, vectors>;
#pragma GCC unroll 8
  for (int i = 0; i < Sweep::lines; ++i) {
    Vec x[vectors];
#pragma GCC unroll 2
    for (int j = 0; j < vectors; ++j) x[j] = Load(sweep.inputs[i] + offset + j * kLanes);
#pragma GCC unroll 8
    for (int row = 0; row < Sweep::rows; ++row) {
      const int line = i - row * stride;
      if (line < 0 || line >= kernel) continue;
#pragma GCC unroll 8
      for (int next = 0; next < Sweep::slots; ++next) {
        const int tap = stride * (Sweep::open - next) + column;
        if (tap >= kernel) continue;
        Vec(&sums)[vectors] = sweep.sums[row][(turn + next) % Sweep::slots];
#pragma GCC unroll 2
        for (int j = 0; j < vectors; ++j) sums[j] = MulAdd(x[j], sweep.weights[line * kernel + tap][j], sums[j]);
      }
    }
  }
}

template <int kernel, int stride, int vectors>
inline __attribute__((always_inline)) void BeginOutput(DwSweep<kernel, stride, vectors>& sweep, int slot) {
#pragma GCC unroll 8
  for (int row = 0; row < DwSweep<kernel, stride, vectors>::rows; ++row) {
#pragma GCC unroll 2
    for (int j = 0; j < vectors; ++j) sweep.sums[row][slot][j] = sweep.bias[j];
  }
}

// The first row last: where only that one is wanted, both have the same place.
template <int kernel, int stride, int vectors>
inline __attribute__((always_inline)) void EndOutput(const DwSweep<kernel, stride, vectors>& sweep, int slot,
                                                     Element* to, ptrdiff_t output_row) {
#pragma GCC unroll 8
  for (int row = DwSweep<kernel, stride, vectors>::rows - 1; row >= 0; --row) {
#pragma GCC unroll 2
    for (int j = 0; j < vectors; ++j) {
      Store(to + row * output_row + j * kLanes, AtLeast(AtMost(sweep.sums[row][slot][j], sweep.high), sweep.low));
    }
  }
}

// Goes on by `count` times as many outputs as there are slots, so that every slot has its turn. All columns are inside.
template <int kernel, int stride, int vectors>
inline __attribute__((always_inline)) void SweepInside(DwSweep<kernel, stride, vectors>& sweep, ptrdiff_t count,
                                                       ptrdiff_t offset, ptrdiff_t channels, Element* to,
                                                       ptrdiff_t output_row, ptrdiff_t output_pixel) {
  constexpr int slots = DwSweep<kernel, stride, vectors>::slots;
  for (; count > 0; --count) {
#pragma GCC unroll 8
    for (int turn = 0; turn < slots; ++turn) {
      BeginOutput(sweep, (turn + slots - 1) % slots);
      AddColumn<0>(sweep, turn, offset);
      EndOutput(sweep, turn, to, output_row);
      offset += channels;
      to += output_pixel;
      if (stride < 2) continue;
      AddColumn<stride - 1>(sweep, turn, offset);
      offset += channels;
    }
  }
}

// Goes on by one output, of which only the columns inside of the image are added.
template <int kernel, int stride, int vectors>
inline __attribute__((always_inline)) void SweepEdge(DwSweep<kernel, stride, vectors>& sweep, const DwRows& job,
                                                     ptrdiff_t column, Element* to, ptrdiff_t output_row) {
  using Sweep = DwSweep<kernel, stride, vectors>;
  BeginOutput(sweep, Sweep::slots - 1);
  if (column >= 0 && column < job.width) AddColumn<0>(sweep, 0, column * job.channels);
  EndOutput(sweep, 0, to, output_row);
  ++column;
  if (stride == 2 && column >= 0 && column < job.width) AddColumn<stride - 1>(sweep, 0, column * job.channels);
#pragma GCC unroll 8
  for (int row = 0; row < Sweep::rows; ++row) {
#pragma GCC unroll 8
    for (int slot = 0; slot < Sweep::open; ++slot) {
#pragma GCC unroll 2
      for (int j = 0; j < vectors; ++j) sweep.sums[row][slot][j] = sweep.sums[row][slot + 1][j];
    }
  }
}

// Columns [begin, end) of the output and channels [first, last) of them, at least those of the vectors.
template <int kernel, int stride, int vectors>
__attribute__((noinline)) void RunDwRowsOf(const DwRows& job, ptrdiff_t begin, ptrdiff_t end, ptrdiff_t first,
                                           ptrdiff_t last) {
  static_assert(stride == 1 || stride == 2, "a step is one column or two");
  using Sweep = DwSweep<kernel, stride, vectors>;
  Sweep sweep;
  sweep.low = Fill(job.low);
  sweep.high = Fill(job.high);
  const ptrdiff_t channels = job.channels;
  const ptrdiff_t pixel = job.output_pixel;
  const ptrdiff_t output_row = job.lines > 1 ? job.output_row : 0;
  for (ptrdiff_t channel = first; channel < last; channel += vectors * kLanes) {
    if (channel > last - vectors * kLanes) channel = last - vectors * kLanes;  // overlaps the one before
#pragma GCC unroll 25
    for (int i = 0; i < Sweep::lines; ++i) sweep.inputs[i] = job.inputs[i] + channel;
    const Element* filter = job.filter + channel;
#pragma GCC unroll 25
    for (int i = 0; i < kernel * kernel; ++i, filter += channels) {
#pragma GCC unroll 2
      for (int j = 0; j < vectors; ++j) sweep.weights[i][j] = Load(filter + j * kLanes);
    }
#pragma GCC unroll 2
    for (int j = 0; j < vectors; ++j) {
      sweep.bias[j] = job.bias != nullptr ? Load(job.bias + channel + j * kLanes) : Fill(0.0f);
    }
#pragma GCC unroll 25
    for (int slot = 0; slot < Sweep::open; ++slot) BeginOutput(sweep, slot);
    Element* to = job.output + channel;
    ptrdiff_t column = begin * stride - job.before;
    ptrdiff_t x = begin - Sweep::open;
    for (; x < begin && column + stride <= 0; ++x) column += stride;  // padding only: the sums stay as they are
    while (x < end) {
      const ptrdiff_t wanted = (end - x) / Sweep::slots;
      const ptrdiff_t inside = (job.width - column) / (Sweep::slots * stride);
      const ptrdiff_t count = wanted < inside ? wanted : inside;
      if (kernel == 3 && x >= begin && column >= 0 && count > 0) {
        SweepInside(sweep, count, column * channels, channels, to, output_row, pixel);
        x += count * Sweep::slots;
        to += count * Sweep::slots * pixel;
        column += count * Sweep::slots * stride;
        continue;
      }
      SweepEdge(sweep, job, column, to, output_row);  // what lies before the wanted ones is overwritten
      if (x >= begin) to += pixel;
      column += stride;
      ++x;
    }
  }
}

// Columns this far apart, or a multiple of it, fall into four sets or fewer of a cache of 32 KB, which forgets them
// before the next vector of channels comes by. Then two vectors go together, a whole line of cache.
constexpr ptrdiff_t kDwCrowded = 256;

template <int kernel, int stride>
void RunDwRows(const DwRows& job, ptrdiff_t begin, ptrdiff_t end, ptrdiff_t first, ptrdiff_t last) {
  if constexpr (kLanes == 8 && kernel == 3) {
    const bool whole_lines = job.channels % kDwCrowded == 0 && last - first >= 2 * kLanes;
    if (whole_lines) return RunDwRowsOf<kernel, stride, 2>(job, begin, end, first, last);
  }
  RunDwRowsOf<kernel, stride, 1>(job, begin, end, first, last);
}

}  // namespace
}  // namespace lathe

#endif  // LATHE_KERNEL_DEPTHWISE_DEPTHWISE_ROWS_H_
