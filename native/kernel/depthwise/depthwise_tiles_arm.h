// Rows of a depthwise convolution with a window of 5 x 5 on ARM, by tiles of a few columns whose sums stay in
// registers.
//
// A row of the input is loaded once for all columns of a tile and all rows that look at it, and each row of the filter
// once for all sums of a tile.
#ifndef LATHE_KERNEL_DEPTHWISE_DEPTHWISE_TILES_ARM_H_
#define LATHE_KERNEL_DEPTHWISE_DEPTHWISE_TILES_ARM_H_

#include "native/kernel/depthwise/depthwise.h"
#include "native/kernel/simd/load_step_arm.h"
#include "native/kernel/simd/simd.h"

namespace lathe {
namespace {

constexpr int kDwColumns = 4;  // of a tile

// Columns of the input that a tile looks at.
constexpr int DwPatch(int kernel, int stride) { return (kDwColumns - 1) * stride + kernel; }

// One vector of channels on its way along the columns. Steps are in bytes.
struct DwChannels {
  const DwRows& job;
  ptrdiff_t channel;
  int64_t pixel_bytes;
  const Element* filter;
  const Element* bias;
  Vec low;
  Vec high;
  ptrdiff_t output_row;
};

// Columns [first, end) of a patch, of which those from 2 on are inside of the image; the last one is the first loaded.
template <int patch>
inline __attribute__((always_inline)) void LoadEdge(const Element* from, int64_t back, int first, int end,
                                                    Vec (&x)[patch]) {
  static_assert(patch == 8 || patch == 11, "tiles of 4 columns, windows of 5");
  switch (end) {
    case 11:
      LoadAndStep(from, back, &x[patch - 1]);
      [[fallthrough]];
    case 10:
      if (patch > 9) LoadAndStep(from, back, &x[patch > 9 ? 9 : 0]);
      [[fallthrough]];
    case 9:
      if (patch > 8) LoadAndStep(from, back, &x[patch > 8 ? 8 : 0]);
      [[fallthrough]];
    case 8:
      LoadAndStep(from, back, &x[7]);
      [[fallthrough]];
    case 7:
      LoadAndStep(from, back, &x[6]);
      [[fallthrough]];
    case 6:
      LoadAndStep(from, back, &x[5]);
      [[fallthrough]];
    case 5:
      LoadAndStep(from, back, &x[4]);
      [[fallthrough]];
    case 4:
      LoadAndStep(from, back, &x[3]);
      [[fallthrough]];
    default:
      LoadAndStep(from, back, &x[2]);
  }
  if (first < 2) LoadAndStep(from, back, &x[1]);
  if (first < 1) LoadAndStep(from, back, &x[0]);
}

// What a tile holds in registers while the rows of the input go by.
template <int kernel, int stride>
struct DwTile {
  static constexpr int rows = kDwRows<kernel>;
  static constexpr int patch = DwPatch(kernel, stride);

  Vec x[patch];
  Vec sums[rows][kDwColumns];
  Vec weights[kernel];  // where steps are of one: they stay until the second row of outputs has used them
  const Element* filters[rows];
  const Element* const* inputs;
  ptrdiff_t offset;     // of the first column that is loaded
  int64_t pixel_bytes;  // from column to column, and from tap to tap
  int first, end;       // columns of the patch that are in the image
};

// Adds row `i` of the input, and those behind it: compilers do not unroll that much.
template <int i, int kernel, int stride, bool edges>
inline __attribute__((always_inline)) void AddRowsFrom(DwTile<kernel, stride>& tile) {
  using Tile = DwTile<kernel, stride>;
  if constexpr (i < DwInputs(kernel, stride, Tile::rows)) {
    const Element* from = tile.inputs[i] + tile.offset;
    if constexpr (edges) {
      LoadEdge(from, -tile.pixel_bytes, tile.first, tile.end, tile.x);
    } else {
#pragma GCC unroll 16
      for (int j = 0; j < Tile::patch; ++j) LoadAndStep(from, tile.pixel_bytes, &tile.x[j]);
    }
#pragma GCC unroll 2
    for (int row = Tile::rows - 1; row >= 0; --row) {
      const int line = i - row * stride;
      if (line < 0 || line >= kernel) continue;
#pragma GCC unroll 8
      for (int tap = 0; tap < kernel; ++tap) {
        if (stride > 1 || row == 0) LoadAndStep(tile.filters[row], tile.pixel_bytes, &tile.weights[tap]);
#pragma GCC unroll 8
        for (int j = 0; j < kDwColumns; ++j) {
          tile.sums[row][j] = MulAdd(tile.x[j * stride + tap], tile.weights[tap], tile.sums[row][j]);
        }
      }
    }
    AddRowsFrom<i + 1, kernel, stride, edges>(tile);
  }
}

// `count` outputs of each row, the first of which begins with column `column` of the input. Without edges there are
// kDwColumns, and their windows lie in the image.
template <int kernel, int stride, bool edges>
inline __attribute__((always_inline)) void RunDwTile(const DwChannels& at, ptrdiff_t column, ptrdiff_t count,
                                                     Element* to) {
  const DwRows& job = at.job;
  DwTile<kernel, stride> tile;
  constexpr int rows = tile.rows, patch = tile.patch;
  tile.inputs = job.inputs;
  tile.pixel_bytes = at.pixel_bytes;
  tile.first = edges && column < 0 ? static_cast<int>(-column) : 0;
  tile.end = edges && job.width - column < patch ? static_cast<int>(job.width - column) : patch;
  tile.offset = at.channel + (edges ? column + tile.end - 1 : column) * job.channels;
#pragma GCC unroll 16
  for (int i = 0; edges && i < patch; ++i) tile.x[i] = Fill(0.0f);
  const Vec bias = at.bias != nullptr ? Load(at.bias) : Fill(0.0f);
#pragma GCC unroll 16
  for (int i = 0; i < rows * kDwColumns; ++i) tile.sums[i / kDwColumns][i % kDwColumns] = bias;
#pragma GCC unroll 2
  for (int row = 0; row < rows; ++row) tile.filters[row] = at.filter;
  AddRowsFrom<0, kernel, stride, edges>(tile);
#pragma GCC unroll 2
  for (int row = rows - 1; row >= 0; --row) {  // the first row last: where only that is wanted, both have one place
    Element* at_row = to + row * at.output_row;
#pragma GCC unroll 8
    for (int j = 0; j < kDwColumns; ++j, at_row += job.output_pixel) {
      if (!edges || j < count) Store(at_row, AtLeast(AtMost(tile.sums[row][j], at.high), at.low));
    }
  }
}

// One output, whose window may lie anywhere.
template <int kernel, int stride>
__attribute__((noinline)) void RunDwPixel(const DwChannels& at, ptrdiff_t column, Element* to) {
  const DwRows& job = at.job;
  for (int row = kDwRows<kernel> - 1; row >= 0; --row) {
    Vec sum = at.bias != nullptr ? Load(at.bias) : Fill(0.0f);
    for (ptrdiff_t tap = 0; tap < kernel * kernel; ++tap) {
      const ptrdiff_t x = column + tap % kernel;
      if (x < 0 || x >= job.width) continue;
      const Element* from = job.inputs[row * stride + tap / kernel] + at.channel + x * job.channels;
      sum = MulAdd(Load(from), Load(at.filter + tap * job.channels), sum);
    }
    Store(to + row * at.output_row, AtLeast(AtMost(sum, at.high), at.low));
  }
}

// Columns [begin, end) of the output and channels [first, last) of them, at least a vector's.
template <int kernel, int stride>
__attribute__((noinline)) void RunDwTiles(const DwRows& job, ptrdiff_t begin, ptrdiff_t end, ptrdiff_t first,
                                          ptrdiff_t last) {
  constexpr ptrdiff_t patch = DwPatch(kernel, stride);
  for (ptrdiff_t channel = first; channel < last; channel += kLanes) {
    if (channel > last - kLanes) channel = last - kLanes;  // overlaps the one before
    const DwChannels at = {job,
                           channel,
                           static_cast<int64_t>(job.channels) * static_cast<int64_t>(sizeof(Element)),
                           job.filter + channel,
                           job.bias != nullptr ? job.bias + channel : nullptr,
                           Fill(job.low),
                           Fill(job.high),
                           job.lines > 1 ? job.output_row : 0};
    Element* to = job.output + channel;
    for (ptrdiff_t x = begin; x < end;) {
      const ptrdiff_t column = x * stride - job.before, rest = end - x;
      ptrdiff_t count = rest < kDwColumns ? rest : kDwColumns;
      if (count == kDwColumns && column >= 0 && column + patch <= job.width) {
        RunDwTile<kernel, stride, false>(at, column, count, to);
      } else if (column >= -2 && column + 2 < job.width) {
        RunDwTile<kernel, stride, true>(at, column, count, to);
      } else {
        RunDwPixel<kernel, stride>(at, column, to);
        count = 1;
      }
      x += count;
      to += count * job.output_pixel;
    }
  }
}

}  // namespace
}  // namespace lathe

#endif  // LATHE_KERNEL_DEPTHWISE_DEPTHWISE_TILES_ARM_H_
