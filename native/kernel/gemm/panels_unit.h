// What native/kernel/units.yaml has compiled once for each instruction set: the tiles, and how a job is cut into items
// of work for them.
#ifndef LATHE_KERNEL_GEMM_PANELS_UNIT_H_
#define LATHE_KERNEL_GEMM_PANELS_UNIT_H_

#include "native/kernel/gemm/panels.h"
#include "native/kernel/simd/simd.h"
#if defined(__ARM_NEON) && defined(__ARM_FEATURE_FMA)
#include "native/kernel/gemm/panel_tiles_arm.h"
#elif defined(LATHE_ISA_RVV)
#include "native/kernel/gemm/panel_tiles_rvv.h"
#else
#include "native/kernel/gemm/panel_tiles.h"
#endif

namespace lathe {
namespace {

JobItems ItemsOf(const PanelJob& job) {
  const int64_t panels = job.pixels == 1 ? kRowItemPanels : kItemPanels;
  return {job.pixels, job.shape.groups * job.shape.panels(), kChunkPixels, kChunkStep, panels};
}

// Items [begin, end).
__attribute__((noinline)) void RunPanelItems(const PanelJob& job, const JobItems& items, int64_t begin, int64_t end,
                                             int thread, const PixelLocator& locate) {
  int64_t* const at_hand = reinterpret_cast<int64_t*>(job.scratch + thread * job.thread_bytes);
  PanelChunk chunk = ChunkOfThread(job, thread);
  for (int64_t index = begin; index < end; ++index) {
    const JobItem item = items[index];
    chunk.pixel = item.pixel;
    chunk.count = item.count;
    if (item.chunk != *at_hand) {
      locate.call(locate.self, chunk.pixel, chunk.count, chunk.rows);
      PackChunk(job, chunk);
      *at_hand = item.chunk;
    }
    RunPanelRange(job, chunk, item.begin, item.end);
  }
}

}  // namespace

inline namespace LATHE_ISA {

__attribute__((cold)) void PackPanels(const PanelShape& shape, const Element* from, Element* to) {
  const int64_t inner = shape.taps * shape.depth;
  for (int64_t group = 0; group < shape.groups; ++group) {
    const Element* source = from + group * shape.outputs * inner;
    for (int64_t first = 0; first < shape.outputs; first += kPanelWidth) {
      for (int64_t k = 0; k < inner; ++k) {
        for (int64_t j = 0; j < kPanelWidth; ++j, ++to) {
          *to = first + j < shape.outputs ? source[(first + j) * inner + k] : 0.0f;
        }
      }
    }
  }
}

int64_t PackedInputElements(const PanelShape& shape, int64_t pixels) { return PackedElements(shape, pixels); }

int64_t PanelThreadBytes(const PanelShape& shape, int64_t pixels) {
  const int64_t most = pixels < kChunkPixels ? pixels : kChunkPixels;
  const int64_t bytes = kChunkHeadBytes + shape.taps * kChunkPixels * static_cast<int64_t>(sizeof(Element*)) +
                        PackedElements(shape, most) * static_cast<int64_t>(sizeof(Element));
  return DivideUp(bytes, 64) * 64;
}

void PackInputs(const PanelJob& job, const PanelChunk& chunk) { PackChunk(job, chunk); }

void RunPanelRange(const PanelJob& job, const PanelChunk& chunk, int64_t begin, int64_t end) {
  const int64_t panels = job.shape.panels();
  while (begin < end) {
    const int64_t group = begin / panels;
    const int64_t first = begin - group * panels;
    const int64_t rest = panels - first;
    const int64_t taken = rest < end - begin ? rest : end - begin;
    const int64_t last = (first + taken) * kPanelWidth;
    RunPanels(job, chunk, group, first * kPanelWidth, last < job.shape.outputs ? last : job.shape.outputs);
    begin += taken;
  }
}

void RunPanelJob(const RunContext& context, const PanelJob& job, const PixelLocator& locate) {
  const JobItems items = ItemsOf(job);
  context.For(items.count, 1,
              [&](int64_t begin, int64_t end, int thread) { RunPanelItems(job, items, begin, end, thread, locate); });
}

void RunPanelBlock(const PanelJob& job, const Element* inputs, Element* packed, int64_t pixel, int64_t pixels) {
  const Element* rows[kChunkPixels];
  if (pixels == 0) return;
  const int64_t even = DivideUp(DivideUp(pixels, DivideUp(pixels, kChunkPixels)), 8) * 8;
  const int64_t most = even < kChunkPixels ? even : kChunkPixels;
  PanelChunk chunk = {pixel, 0, rows, packed};
  for (int64_t left = pixels; left > 0; left -= chunk.count, chunk.pixel += chunk.count) {
    chunk.count = static_cast<int>(left < most ? left : most);
    for (int i = 0; i < chunk.count; ++i, inputs += job.shape.depth) rows[i] = inputs;
    PackChunk(job, chunk);
    RunPanelRange(job, chunk, 0, job.shape.panels());
  }
}

void RunPanelJobAlone(const PanelJob& job, int thread, const PixelLocator& locate) {
  const JobItems items = ItemsOf(job);
  RunPanelItems(job, items, 0, items.count, thread, locate);
}

}  // namespace LATHE_ISA
}  // namespace lathe

#endif  // LATHE_KERNEL_GEMM_PANELS_UNIT_H_
