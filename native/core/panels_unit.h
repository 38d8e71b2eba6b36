// What isa/panels__<set>.cc is made of: the tiles, and how a job is cut into items of work for them. The header of its
// instruction set goes before this one.
#ifndef LATHE_CORE_PANELS_UNIT_H_
#define LATHE_CORE_PANELS_UNIT_H_

#include "native/core/panels.h"
#if defined(__ARM_NEON) && defined(__ARM_FEATURE_FMA)
#include "native/core/panel_tiles_arm.h"
#else
#include "native/core/panel_tiles.h"
#endif

namespace lathe {
namespace {

// A job in items of parallel work: a chunk of pixels times some panels.
struct PanelItems {
  int64_t chunk_pixels;
  int64_t splits;  // of the panels
  int64_t panels;  // of an item
  int64_t count;

  explicit PanelItems(const PanelJob& job) {
    constexpr int64_t kItems = 64;  // enough for any number of cores; few pixels are split by outputs
    const int64_t all = job.shape.groups * job.shape.panels();
    const int64_t most = DivideUp(job.pixels, kChunkPixels);
    count = 0;
    if (most == 0 || all == 0) return;
    chunk_pixels = DivideUp(DivideUp(job.pixels, most), kChunkStep) * kChunkStep;
    const int64_t chunks = DivideUp(job.pixels, chunk_pixels);
    panels = DivideUp(DivideUp(all, DivideUp(kItems, chunks)), kItemPanels) * kItemPanels;
    splits = DivideUp(all, panels);
    count = chunks * splits;
  }
};

constexpr int64_t kChunkHeadBytes = 64;

// Items [begin, end).
__attribute__((noinline)) void RunPanelItems(const PanelJob& job, const PanelItems& items, int64_t begin, int64_t end,
                                             int thread, const PixelLocator& locate) {
  char* const scratch = job.scratch + thread * job.thread_bytes;
  int64_t* const at_hand = reinterpret_cast<int64_t*>(scratch);
  PanelChunk chunk = {};
  chunk.rows = reinterpret_cast<const Element**>(scratch + kChunkHeadBytes);
  chunk.packed = reinterpret_cast<Element*>(chunk.rows + job.shape.taps * kChunkPixels);
  const int64_t panels = job.shape.groups * job.shape.panels();
  for (int64_t item = begin; item < end; ++item) {
    const int64_t number = item / items.splits;
    chunk.pixel = number * items.chunk_pixels;
    const int64_t rest = job.pixels - chunk.pixel;
    chunk.count = static_cast<int>(rest < items.chunk_pixels ? rest : items.chunk_pixels);
    if (number != *at_hand) {
      locate.call(locate.self, chunk.pixel, chunk.count, chunk.rows);
      PackChunk(job, chunk);
      *at_hand = number;
    }
    const int64_t first = (item - number * items.splits) * items.panels;
    RunPanelRange(job, chunk, first, first + items.panels < panels ? first + items.panels : panels);
  }
}

}  // namespace

inline namespace LATHE_VECTORS {

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
  const PanelItems items(job);
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
  const PanelItems items(job);
  RunPanelItems(job, items, 0, items.count, thread, locate);
}

}  // namespace LATHE_VECTORS
}  // namespace lathe

#endif  // LATHE_CORE_PANELS_UNIT_H_
