// Compiled once for each instruction set: native/kernel/units.yaml.
#ifndef LATHE_KERNEL_GEMM_TILES_UNIT_H_
#define LATHE_KERNEL_GEMM_TILES_UNIT_H_

#include "native/kernel/gemm/tile_sums.h"

namespace lathe {
namespace {

inline void StoreTile(const TileJob& job, const TileSums& tile, int64_t pixel, int count, int64_t channel,
                      int64_t outputs) {
  const int64_t channels = job.filters.groups * job.filters.outputs;
  for (int p = 0; p < count; ++p) {
    float sums[kTileOutputs];
    Store4(sums, tile.sums[p][0]);
    Store4(sums + 4, tile.sums[p][1]);
    float* to = job.output + (pixel + p) * job.output_step + channel;
    if (job.bias != nullptr) {
      for (int64_t j = 0; j < outputs; ++j) to[j] = sums[j] + job.bias[channel + j];
    } else {
      for (int64_t j = 0; j < outputs; ++j) to[j] = sums[j];
    }
    if (job.residual == nullptr) continue;
    const float* from = job.residual + (pixel + p) * channels + channel;
    for (int64_t j = 0; j < outputs; ++j) to[j] += from[j];
  }
}

}  // namespace

void RunChunk(const TileJob& job, const float* const* rows, int64_t pixel, int count, int64_t block_begin,
              int64_t block_end) {
  const Filters& filters = job.filters;
  const int64_t blocks = filters.blocks();
  for (int64_t block = block_begin; block < block_end; ++block) {
    const int64_t group = block / blocks;
    const int64_t first = (block - group * blocks) * kTileOutputs;
    const int64_t rest = filters.outputs - first;
    const int64_t outputs = rest < kTileOutputs ? rest : kTileOutputs;
    const float* weights = job.packed + group * filters.group_floats() +
                           first / filters.panel * filters.panel_floats() + first % filters.panel;
    for (int p = 0; p < count;) {
      TileSums tile;
      const int step = count - p >= kTilePixels ? kTilePixels : 1;
      const auto sum = step == 1 ? SumTile1 : SumTile4;
      sum(rows + p, group * filters.depth, filters.taps, filters.depth, weights, filters.panel, &tile);
      StoreTile(job, tile, pixel + p, step, group * filters.outputs + first, outputs);
      p += step;
    }
  }
  if (job.activation.kind == ActivationKind::kNone) return;
  const auto channel_of = [&](int64_t block) {
    return block / blocks * filters.outputs + block % blocks * kTileOutputs;
  };
  const int64_t begin = channel_of(block_begin);
  const int64_t end = channel_of(block_end);
  for (int p = 0; p < count; ++p) {
    Activate(job.activation, job.output + (pixel + p) * job.output_step + begin, end - begin);
  }
}

}  // namespace lathe

#endif  // LATHE_KERNEL_GEMM_TILES_UNIT_H_
