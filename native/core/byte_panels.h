// Jobs of byte_state.h: how they are cut into tiles. The header of an instruction set (bytes_*.h) goes before this one.
#ifndef LATHE_CORE_BYTE_PANELS_H_
#define LATHE_CORE_BYTE_PANELS_H_

#include <string.h>

#include "native/core/byte_state.h"

namespace lathe {

struct BytePanelJob {
  const BytePanelState* state;
  const int8_t* residual;  // may be null; as many elements as the output
  int8_t* output;
  int64_t pixels;
  int64_t output_step;  // from pixel to pixel
  char* scratch;        // ByteThreadBytes() per thread
  int64_t thread_bytes;
};

// Some pixels of a job times some outputs of a group.
struct ByteTile {
  const int8_t* const*
      rows;   // per tap kBytePixels pointers, all to rows; they are read in whole steps of kByteForm.reach()
  int count;  // pixels
  int64_t group;
  int64_t output;   // the first, within the group: that of a panel
  int64_t outputs;  // how many
  int8_t* to;       // the first output of the first pixel
  const int8_t* residual;
};

inline namespace LATHE_VECTORS {

// There once per instruction set: isa/byte_panels__<set>.cc.
void RunByteTile(const BytePanelJob& job, const ByteTile& tile);

}  // namespace LATHE_VECTORS
namespace {

LATHE_INLINE int64_t ByteThreadBytes(const BytePanelShape& shape) {
  return (shape.taps * kBytePixels * static_cast<int64_t>(sizeof(int8_t*)) + 63) / 64 * 64;
}

// Tiles that are not whole compute the first row once more.
inline void RepeatRows(int64_t taps, int count, const int8_t** rows) {
  if (count == kBytePixels) return;
  for (int64_t tap = 0; tap < taps; ++tap, rows += kBytePixels) {
    for (int p = count; p < kBytePixels; ++p) rows[p] = rows[0];
  }
}

// Rows are read in whole steps, but nothing behind the last byte of a tensor: the last pixels stand once more in front
// of bytes that are free.
class ByteTail {
 public:
  static constexpr int64_t Bytes(int64_t channels) {
    return (kPixels * channels + kByteForm.reach() + kAlignment - 1) / kAlignment * kAlignment;
  }

  // Of `pixels` pixels of `channels` bytes, `step` from one to the next, `depth` of which are read at once.
  ByteTail(const int8_t* image, int64_t pixels, int64_t channels, int64_t step, int64_t depth, int8_t* to)
      : step_(step), channels_(channels), copy_(to) {
    if (depth % kByteForm.reach() == 0) return;
    const int64_t count = pixels < kPixels ? pixels : kPixels;
    begin_ = image + (pixels - count) * step;
    end_ = image + pixels * step;
    for (int64_t p = 0; p < count; ++p) {
      memcpy(to + p * channels, begin_ + p * step, static_cast<size_t>(channels));
    }
  }

  // `count` rows of `taps`, or of what else stands kBytePixels apart.
  void Place(int64_t taps, int count, const int8_t** rows) const {
    if (begin_ == nullptr) return;
    for (int64_t tap = 0; tap < taps; ++tap, rows += kBytePixels) {
      for (int p = 0; p < count; ++p) {
        if (rows[p] >= begin_ && rows[p] < end_) rows[p] = copy_ + (rows[p] - begin_) / step_ * channels_;
      }
    }
  }

 private:
  static constexpr int64_t kPixels = kByteForm.reach() - 1;  // each has a byte or more
  static constexpr int64_t kAlignment = 64;

  int64_t step_;
  int64_t channels_;
  const int8_t* begin_ = nullptr;  // of these pixels; null: there is no need
  const int8_t* end_ = nullptr;
  const int8_t* copy_;
};

// All of a job by all threads. `locate(pixel, count, rows)` writes the pointers rows[tap * kBytePixels + p] for `count`
// pixels.
template <typename Locate>
inline void RunByteJob(const RunContext& context, const BytePanelJob& job, const Locate& locate) {
  const BytePanelShape& shape = job.state->shape;
  constexpr int64_t kItems = 64;  // enough for any number of cores; few pixels are split by outputs
  const int64_t chunks = (job.pixels + kBytePixels - 1) / kBytePixels;
  const int64_t panels = shape.groups * shape.panels();
  if (chunks == 0 || panels == 0) return;
  const int64_t wanted = (kItems + chunks - 1) / chunks;
  const int64_t each = (((panels + wanted - 1) / wanted) + 3) / 4 * 4;
  const int64_t splits = (panels + each - 1) / each;
  context.For(chunks * splits, 1, [&](int64_t begin, int64_t end, int thread) {
    const int8_t** rows = reinterpret_cast<const int8_t**>(job.scratch + thread * job.thread_bytes);
    int64_t at_hand = -1;
    for (int64_t item = begin; item < end; ++item) {
      const int64_t chunk = item / splits;
      const int64_t pixel = chunk * kBytePixels;
      const int count = static_cast<int>(job.pixels - pixel < kBytePixels ? job.pixels - pixel : kBytePixels);
      if (chunk != at_hand) {
        locate(pixel, count, rows);
        RepeatRows(shape.taps, count, rows);
        at_hand = chunk;
      }
      int64_t panel = (item - chunk * splits) * each;
      const int64_t last = panel + each < panels ? panel + each : panels;
      while (panel < last) {
        const int64_t first = panel % shape.panels();
        const int64_t rest = shape.panels() - first;
        const int64_t taken = rest < last - panel ? rest : last - panel;
        const int64_t output = first * kBytePanel;
        const int64_t outputs =
            shape.outputs - output < taken * kBytePanel ? shape.outputs - output : taken * kBytePanel;
        const int64_t number = panel / shape.panels();
        const int64_t channel = number * shape.outputs + output;
        ByteTile tile = {rows, count, number, output, outputs, job.output + pixel * job.output_step + channel, nullptr};
        if (job.residual != nullptr) tile.residual = job.residual + pixel * shape.groups * shape.outputs + channel;
        RunByteTile(job, tile);
        panel += taken;
      }
    }
  });
}

}  // namespace
}  // namespace lathe

#endif  // LATHE_CORE_BYTE_PANELS_H_
