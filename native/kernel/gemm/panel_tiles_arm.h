// Tiles of products on ARM: the inputs of a chunk are packed too, so that both operands are read in order. See
// panels.h, which chooses among these headers.
//
// Inputs are packed as [group][quad of rows][tap][depth][4], and what is left of rows as [row][tap][depth].
#ifndef LATHE_KERNEL_GEMM_PANEL_TILES_ARM_H_
#define LATHE_KERNEL_GEMM_PANEL_TILES_ARM_H_

#include "native/kernel/gemm/panels.h"
#include "native/kernel/simd/simd.h"
#if defined(LATHE_HALVES)
#include "native/kernel/gemm/packed_tile_fp16.h"
#elif defined(__aarch64__)
#include "native/kernel/gemm/packed_lines.h"
#include "native/kernel/gemm/packed_tile_aarch64.h"
#else
#include "native/kernel/gemm/packed_lines.h"
#include "native/kernel/gemm/packed_tile_armv7.h"
#endif

namespace lathe {
namespace {

static_assert(kPanelWidth == (sizeof(Element) == 2 ? 16 : 8), "the tiles have this many filters");
constexpr int64_t kItemPanels = 4;
constexpr int64_t kRowItemPanels = 4;
constexpr int64_t kChunkStep = 4 * kTileQuads;

// Elements of depth that pass by before the next panel takes its turn: a tile's operands stay in the first cache. Long
// sums of halves are too inexact.
constexpr int64_t kBlockDepth = sizeof(Element) == 2 ? 256 : 512;
constexpr int64_t kDepthStep = 16 / sizeof(Element);  // the tiles go by so many of them at once

inline int64_t PackedElements(const PanelShape& shape, int64_t pixels) {
  return shape.groups * shape.taps * shape.depth * pixels;
}

// The inputs of one group.
inline void PackGroup(const PanelShape& shape, const PanelChunk& chunk, int64_t offset, Element* to) {
  const int64_t depth = shape.depth;
  const int tiled = chunk.count - chunk.count % 4;
  for (int p = 0; p < tiled; p += 4) {
    const Element* const* row = chunk.rows + p;
    for (int64_t tap = 0; tap < shape.taps; ++tap, row += kChunkPixels, to += 4 * depth) {
      PackQuad(row[0] + offset, row[1] + offset, row[2] + offset, row[3] + offset, depth, to);
    }
  }
  for (int p = tiled; p < chunk.count; ++p) {
    const Element* const* row = chunk.rows + p;
    for (int64_t tap = 0; tap < shape.taps; ++tap, row += kChunkPixels, to += depth) {
      memcpy(to, row[0] + offset, static_cast<size_t>(depth) * sizeof(Element));
    }
  }
}

inline void PackChunk(const PanelJob& job, const PanelChunk& chunk) {
  const PanelShape& shape = job.shape;
  const int64_t elements = shape.taps * shape.depth * chunk.count;
  for (int64_t group = 0; group < shape.groups; ++group) {
    PackGroup(shape, chunk, group * shape.depth, chunk.packed + group * elements);
  }
}

#if defined(__aarch64__)
// Quads one below the other: their inputs follow each other, as do the rows of `start` and of `output`.
inline void RunQuads(const PackedTile& tile, size_t quads) {
  if (quads > 1) RunPairs(tile, quads / 2);
  if (quads % 2 == 0) return;
  PackedTile last = tile;
  const size_t before = quads - 1;
  last.inputs += before * (tile.input_bytes / sizeof(Element));
  last.output += 4 * before * (tile.output_bytes / sizeof(Element));
  if (tile.start != nullptr) last.start += 4 * before * (tile.start_bytes / sizeof(Element));
  RunQuad(last);
}

#endif

// Less than a panel, by two vectors that overlap where there are enough elements.
__attribute__((noinline)) inline void CopyPart(const Element* from, size_t count, Element* to) {
  constexpr size_t kWhole = 16 / sizeof(Element), kHalf = kWhole / 2;
  if (count >= kWhole) {
    memcpy(to, from, 16);
    memcpy(to + count - kWhole, from + count - kWhole, 16);
  } else if (count >= kHalf) {
    memcpy(to, from, 8);
    memcpy(to + count - kHalf, from + count - kHalf, 8);
  } else {
    for (size_t i = 0; i < count; ++i) to[i] = from[i];
  }
}

// A quad or a line of which only the first `outputs` filters exist, by way of memory of their own.
__attribute__((noinline)) inline void RunPart(const PackedTile& whole, int rows, size_t outputs) {
  Element sums[4][kPanelWidth] = {};
  PackedTile tile = whole;
  const size_t step = whole.output_bytes / sizeof(Element);
  for (int i = 0; whole.start != nullptr && i < rows; ++i) {
    const Element* start = whole.start + static_cast<size_t>(i) * (whole.start_bytes / sizeof(Element));
    CopyPart(start, outputs, sums[i]);
    tile.start = sums[0];
  }
  tile.output = sums[0];
  tile.start_bytes = tile.output_bytes = sizeof sums[0];
  if (rows == 4) {
    RunQuads(tile, 1);
  } else {
    RunLine(tile);
  }
  for (int i = 0; i < rows; ++i) {
    Element* output = whole.output + static_cast<size_t>(i) * step;
    CopyPart(sums[i], outputs, output);
  }
}

// All rows of a chunk times one panel, of which `outputs` filters exist. `inputs` are those of the group; elements of
// depth from `k` on are added up.
inline void RunPanel(PackedTile* tile, const Element* inputs, int count, int64_t k, int64_t depth, size_t outputs) {
  const int quads = count / 4;
  const bool whole = outputs == kPanelWidth;
  Element* const output = tile->output;
  const Element* const start = tile->start;
  tile->inputs = inputs + 4 * k;
  if (whole) RunQuads(*tile, static_cast<size_t>(quads));
  bool tiled = whole;
#if defined(LATHE_HALVES)
  if (outputs == kPanelWidth / 2) {
    RunHalfQuads(*tile, static_cast<size_t>(quads));
    tiled = true;
  }
#endif
  for (int row = tiled ? 4 * quads : 0, rows = 4; row < count; row += rows) {
    if (row == 4 * quads) rows = 1;
    tile->inputs = inputs + row * depth + rows * k;
    tile->output = output + static_cast<size_t>(row) * (tile->output_bytes / sizeof(Element));
    if (start != nullptr) tile->start = start + static_cast<size_t>(row) * (tile->start_bytes / sizeof(Element));
    if (whole) {
      RunLine(*tile);
    } else {
      RunPart(*tile, rows, outputs);
    }
  }
}

inline size_t ClipOf(const Activation& activation) {
  switch (activation.kind) {
    case ActivationKind::kRelu:
      return kClipLow;
    case ActivationKind::kClip:
      return kClipLow | kClipHigh;
    default:
      return 0;
  }
}

constexpr Element kNoBias[2 * kPanelWidth] = {};

// Outputs [begin, end) of one group; `begin` is the first one of a panel.
inline void RunPanels(const PanelJob& job, const PanelChunk& chunk, int64_t group, int64_t begin, int64_t end) {
  const PanelShape& shape = job.shape;
  const int64_t depth = shape.taps * shape.depth;
  const int64_t blocks = DivideUp(depth, kBlockDepth);
  const int64_t step = DivideUp(DivideUp(depth, blocks), kDepthStep) * kDepthStep;
  const int64_t channels = job.channels();
  bool rest = false;
  float low = 0.0f, high = 0.0f;
  ReadClip(job.activation, &low, &high, &rest);
  PackedTile tile = {};
  tile.low = static_cast<Element>(low);
  tile.high = static_cast<Element>(high);
  tile.output_bytes = static_cast<size_t>(job.step()) * sizeof(Element);
  tile.input_bytes = 4 * static_cast<size_t>(depth) * sizeof(Element);
  const Element* inputs = chunk.packed + group * depth * chunk.count;
  for (int64_t k = 0; k < depth; k += step) {
    const bool last = k + step >= depth;
    tile.depth = static_cast<size_t>(last ? depth - k : step);
    tile.clip = last ? ClipOf(job.activation) : 0;
    tile.filters =
        job.packed + (group * shape.panels() + begin / kPanelWidth) * shape.panel_elements() + k * kPanelWidth;
    for (int64_t first = begin; first < end; first += kPanelWidth, tile.filters += shape.panel_elements()) {
      const size_t outputs = end - first < kPanelWidth ? static_cast<size_t>(end - first) : kPanelWidth;
      const int64_t channel = group * shape.outputs + first;
      tile.bias = kNoBias;
      Element bias[2 * kPanelWidth] = {};
      if (k == 0 && job.bias != nullptr) {
        if (outputs == kPanelWidth) {
          memcpy(bias, job.bias + channel, kPanelWidth * sizeof(Element));
        } else {
          memcpy(bias, job.bias + channel, outputs * sizeof(Element));
        }
        memcpy(bias + kPanelWidth, bias, kPanelWidth * sizeof(Element));
        tile.bias = bias;
      }
      tile.output = job.output + chunk.pixel * job.step() + channel;
      tile.start = k > 0 ? tile.output : nullptr;
      tile.start_bytes = tile.output_bytes;
      if (k == 0 && job.residual != nullptr) {
        tile.start = job.residual + chunk.pixel * channels + channel;
        tile.start_bytes = static_cast<size_t>(channels) * sizeof(Element);
      }
      RunPanel(&tile, inputs, chunk.count, k, depth, outputs);
    }
  }
  if (!rest) return;
  Element* const values = job.output + chunk.pixel * job.step() + group * shape.outputs + begin;
  job.activate(job.activation, values, chunk.count, job.step(), end - begin);
}

}  // namespace
}  // namespace lathe

#endif  // LATHE_KERNEL_GEMM_PANEL_TILES_ARM_H_
