// Jobs of byte_state.h: how they are cut into tiles.
#ifndef LATHE_KERNEL_GEMM_BYTE_PANELS_H_
#define LATHE_KERNEL_GEMM_BYTE_PANELS_H_

#include <string.h>

#include "native/kernel/gemm/byte_form.h"
#include "native/kernel/gemm/byte_state.h"
#include "native/kernel/gemm/job_items.h"
#if defined(__HVX__)
#include "native/kernel/quantised/requantise_hvx.h"
#endif

namespace lathe {

struct BytePanelJob {
  const BytePanelState* state;
  const int8_t* residual;  // may be null; as many elements as the output
  int8_t* output;
  int32_t* sums;  // where the sums go to; null: they are stored in `output`
  int64_t pixels;
  int64_t output_step;  // from pixel to pixel
  char* scratch;        // ByteThreadBytes() per thread
  int64_t thread_bytes;
  bool eights;  // all rows begin at multiples of 8
  bool dense;   // the rows of a tile are one stretch of memory
  bool loose;   // kByteLoose bytes may be read from every row on
};

// Some pixels of a job times some outputs of a group.
struct ByteTile {
  const int8_t* const*
      rows;   // per tap kByteChunkPixels pointers, all to rows; they are read in whole steps of kByteForm.reach()
  int count;  // pixels
  int64_t group;
  int64_t output;   // the first, within the group: that of a panel
  int64_t outputs;  // how many
  int8_t* to;       // the first output of the first pixel
  int32_t* sums;    // the same of SumByteTile
  const int8_t* residual;
  int8_t* copies;  // for pairs: memory for a row's pointer and bytes per tap and pixel, ByteCopyPitch() each
};

inline namespace LATHE_ISA {

// There once per instruction set: byte_panels__<isa>.cc.
void RunByteTile(const BytePanelJob& job, const ByteTile& tile);

// Sums and starts as they are. Instruction sets with a form of pairs do not have it, and neither has VNNI.
void SumByteTile(const BytePanelJob& job, const ByteTile& tile);

}  // namespace LATHE_ISA
namespace {

constexpr int64_t kByteLoose = kByteForm.pairs ? 128 : 0;

// Pointers to `count` rows, `step` bytes from one to the next.
LATHE_INLINE void PlaceRows(const int8_t* from, int64_t step, int count, const int8_t** rows) {
#if defined(__HVX__)
  alignas(kHvxBytes) static constexpr int32_t kNumbers[] = {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10,
                                                            11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21,
                                                            22, 23, 24, 25, 26, 27, 28, 29, 30, 31};
  const int each = static_cast<int>(step), place = static_cast<int>(reinterpret_cast<uintptr_t>(from));
  HVX_Vector places = Q6_Vw_vmpyio_VwVh(Q6_V_vsplat_R(each), Q6_Vw_vasl_VwR(LoadAny(kNumbers), 16));
  places = Q6_Vw_vadd_VwVw(places, Q6_V_vsplat_R(place));
  int p = 0;
  for (; p + kHvxLanes <= count; p += kHvxLanes) {
    StoreAny(places, rows + p);
    places = Q6_Vw_vadd_VwVw(places, Q6_V_vsplat_R(kHvxLanes * each));
  }
  if (p < count) StoreFew(places, (count - p) * static_cast<int>(sizeof *rows), reinterpret_cast<int8_t*>(rows + p));
#else
  for (int p = 0; p < count; ++p, from += step) rows[p] = from;
#endif
}

LATHE_INLINE int64_t ByteCopyPitch(int64_t depth) { return (depth + 127) / 128 * 128; }

LATHE_INLINE int64_t ByteThreadBytes(const BytePanelShape& shape) {
  const int64_t rows = shape.taps * kByteChunkPixels, pointer = sizeof(int8_t*);
  const int64_t bytes = kByteForm.pairs ? rows * (2 * pointer + ByteCopyPitch(shape.depth)) : rows * pointer;
  return (bytes + 63) / 64 * 64;
}

LATHE_INLINE bool AtEight(const void* place, int64_t step) {
  return (reinterpret_cast<uintptr_t>(place) | static_cast<uintptr_t>(step)) % 8 == 0;
}

// Tiles that are not whole compute the first row once more.
inline void RepeatRows(int64_t taps, int count, const int8_t** rows) {
  if (count == kByteChunkPixels) return;
  for (int64_t tap = 0; tap < taps; ++tap, rows += kByteChunkPixels) {
    for (int p = count; p < kByteChunkPixels; ++p) rows[p] = rows[0];
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

  // `count` rows of `taps`, or of what else stands kByteChunkPixels apart.
  void Place(int64_t taps, int count, const int8_t** rows) const {
    if (begin_ == nullptr) return;
    for (int64_t tap = 0; tap < taps; ++tap, rows += kByteChunkPixels) {
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

// All of a job by all threads. `locate(pixel, count, rows)` writes the pointers rows[tap * kByteChunkPixels + p] for
// `count` pixels. `sums`: they are what is wanted.
template <bool sums = false, typename Locate>
inline void RunByteJob(const RunContext& context, const BytePanelJob& job, const Locate& locate) {
  const BytePanelShape& shape = job.state->shape;
  constexpr int kPanels = kByteForm.pairs ? 64 : 4;  // what pixels alone decide is found out once for so many
  const JobItems items(job.pixels, shape.groups * shape.panels(), kByteChunkPixels, kByteChunkPixels, kPanels);
  context.For(items.count, 1, [&](int64_t begin, int64_t end, int thread) {
    const int8_t** rows = reinterpret_cast<const int8_t**>(job.scratch + thread * job.thread_bytes);
    int8_t* copies = reinterpret_cast<int8_t*>(rows + shape.taps * kByteChunkPixels);
    int64_t at_hand = -1;
    for (int64_t index = begin; index < end; ++index) {
      const JobItem item = items[index];
      if (item.chunk != at_hand) {
        locate(item.pixel, item.count, rows);
        RepeatRows(shape.taps, item.count, rows);
        at_hand = item.chunk;
      }
      for (int64_t panel = item.begin; panel < item.end;) {
        const int64_t first = panel % shape.panels();
        const int64_t rest = shape.panels() - first;
        const int64_t taken = rest < item.end - panel ? rest : item.end - panel;
        const int64_t output = first * kBytePanel;
        const int64_t outputs =
            shape.outputs - output < taken * kBytePanel ? shape.outputs - output : taken * kBytePanel;
        const int64_t number = panel / shape.panels();
        const int64_t channel = number * shape.outputs + output;
        const int64_t place = item.pixel * job.output_step + channel;
        ByteTile tile = {rows, item.count, number, output, outputs, nullptr, nullptr, nullptr, copies};
        if constexpr (sums) {
          tile.sums = job.sums + place;
          SumByteTile(job, tile);
        } else {
          tile.to = job.output + place;
          if (job.residual != nullptr)
            tile.residual = job.residual + item.pixel * shape.groups * shape.outputs + channel;
          RunByteTile(job, tile);
        }
        panel += taken;
      }
    }
  });
}

}  // namespace
}  // namespace lathe

#endif  // LATHE_KERNEL_GEMM_BYTE_PANELS_H_
