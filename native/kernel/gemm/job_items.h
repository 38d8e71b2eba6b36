// How products with packed filters are cut into items of parallel work, whatever computes them: a chunk of pixels,
// whose inputs stay in cache while filters pass by, times some panels of filters. Few pixels are split by panels.
#ifndef LATHE_KERNEL_GEMM_JOB_ITEMS_H_
#define LATHE_KERNEL_GEMM_JOB_ITEMS_H_

#include "native/runtime/kernel.h"

namespace lathe {
namespace {

// The most pixels of a chunk, for each kind of product. Packed filters do not depend on it.
constexpr int kTileChunkPixels = 32;  // tiles.h
constexpr int kByteChunkPixels = 60;  // byte_panels.h: a multiple of the pixels of every tile
#if defined(__ARM_NEON) && defined(__ARM_FEATURE_FMA)
LATHE_INLINE constexpr int PanelChunkPixels(int) { return 64; }  // panels.h
#elif defined(__riscv_vector)
LATHE_INLINE constexpr int PanelChunkPixels(int) { return 70; }  // whole tiles
#else
LATHE_INLINE constexpr int PanelChunkPixels(int lanes) { return lanes == 16 ? 70 : 72; }  // whole tiles
#endif

LATHE_INLINE constexpr int64_t DivideUp(int64_t value, int64_t by) { return (value + by - 1) / by; }

// A part of a job.
struct JobItem {
  int64_t chunk;  // its number
  int64_t pixel;  // the first
  int count;      // pixels
  int64_t begin;  // the first panel, counted through all groups
  int64_t end;
};

struct JobItems {
  int64_t pixels;  // of the job
  int64_t panels;
  int64_t chunk_pixels;
  int64_t item_panels;
  int64_t splits;  // items of a chunk
  int64_t count;

  // Chunks have up to `most` pixels, a multiple of `pixel_step`, and items a multiple of `panel_step` panels.
  JobItems(int64_t pixels, int64_t panels, int64_t most, int64_t pixel_step, int64_t panel_step)
      : pixels(pixels), panels(panels) {
    constexpr int64_t kItems = 64;  // enough for any number of cores
    count = 0;
    if (pixels == 0 || panels == 0) return;
    chunk_pixels = DivideUp(DivideUp(pixels, DivideUp(pixels, most)), pixel_step) * pixel_step;
    const int64_t chunks = DivideUp(pixels, chunk_pixels);
    item_panels = DivideUp(DivideUp(panels, DivideUp(kItems, chunks)), panel_step) * panel_step;
    splits = DivideUp(panels, item_panels);
    count = chunks * splits;
  }

  LATHE_INLINE JobItem operator[](int64_t index) const {
    JobItem item;
    item.chunk = index / splits;
    item.pixel = item.chunk * chunk_pixels;
    const int64_t rest = pixels - item.pixel;
    item.count = static_cast<int>(rest < chunk_pixels ? rest : chunk_pixels);
    item.begin = (index - item.chunk * splits) * item_panels;
    item.end = item.begin + item_panels < panels ? item.begin + item_panels : panels;
    return item;
  }
};

}  // namespace
}  // namespace lathe

#endif  // LATHE_KERNEL_GEMM_JOB_ITEMS_H_
