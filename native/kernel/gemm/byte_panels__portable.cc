#include "native/kernel/gemm/byte_panels.h"
#include "native/kernel/gemm/byte_store_portable.h"

namespace lathe {
namespace {

void SumPanel(const BytePanelShape& shape, const int8_t* const* rows, int64_t offset, const int8_t* packed,
              int32_t (&sums)[kBytePanel]) {
  for (int64_t tap = 0; tap < shape.taps; ++tap) {
    const int8_t* row = rows[tap * kByteChunkPixels] + offset;
    for (int64_t k = 0; k < shape.depth; k += kByteDepth, packed += kBytePanel * kByteDepth) {
      const int64_t rest = shape.depth - k < kByteDepth ? shape.depth - k : kByteDepth;
      for (int64_t i = 0; i < rest; ++i) {
        for (int j = 0; j < kBytePanel; ++j) sums[j] += packed[j * kByteDepth + i] * row[k + i];
      }
    }
  }
}

// `store(sums, pixel, first, width, channel)` takes those of some outputs of a pixel.
template <typename Store>
inline void RunTile(const BytePanelJob& job, const ByteTile& tile, const Store& store) {
  const BytePanelState& state = *job.state;
  const BytePanelShape& shape = state.shape;
  for (int64_t first = 0; first < tile.outputs; first += kBytePanel) {
    const int64_t panel = tile.group * shape.panels() + (tile.output + first) / kBytePanel;
    const int8_t* packed = state.packed + panel * state.panel_bytes;
    const int64_t width = tile.outputs - first < kBytePanel ? tile.outputs - first : kBytePanel;
    const int64_t channel = tile.group * shape.outputs + tile.output + first;
    for (int p = 0; p < tile.count; ++p) {
      int32_t sums[kBytePanel] = {};
      SumPanel(shape, tile.rows + p, tile.group * shape.depth, packed, sums);
      store(sums, p, first, width, channel);
    }
  }
}

}  // namespace
inline namespace LATHE_ISA {

void RunByteTile(const BytePanelJob& job, const ByteTile& tile) {
  const BytePanelState& state = *job.state;
  const int64_t channels = state.shape.groups * state.shape.outputs;
  RunTile(job, tile, [&](const int32_t* sums, int p, int64_t first, int64_t width, int64_t channel) {
    for (int64_t j = 0; j < width; ++j) {
      const int8_t* residual = tile.residual == nullptr ? nullptr : tile.residual + p * channels + first + j;
      tile.to[p * job.output_step + first + j] =
          RequantisedSum(state, static_cast<uint32_t>(sums[j]), channel + j, residual);
    }
  });
}

void SumByteTile(const BytePanelJob& job, const ByteTile& tile) {
  RunTile(job, tile, [&](const int32_t* sums, int p, int64_t first, int64_t width, int64_t) {
    memcpy(tile.sums + p * job.output_step + first, sums, static_cast<size_t>(width) * sizeof *sums);
  });
}

}  // namespace LATHE_ISA
}  // namespace lathe
