// What instruction sets implement: the inner loops over rows of bytes. One object per set, rows__<isa>.cc; a library
// holds those that its functions use, of the sets of its ABI.
#ifndef LATHE_VISION_ROWS_H_
#define LATHE_VISION_ROWS_H_

#include <stddef.h>
#include <stdint.h>

#include "native/runtime/span.h"

namespace lathe {
namespace vision {

// Y, U and V as RGB, with 7 bits of fraction and 8 for what multiplies one of U and V alone:
// y' = (max(y - y_offset, 0) * y_gain + 64) >> 7, r = y' + (r_v (v-128) >> 8), g = y' - ((g_u (u-128) + g_v (v-128)) >>
// 7).
struct YuvToRgb {
  int16_t y_offset, y_gain, r_v, g_u, g_v, b_u;
};

// RGB as Y, U and V, with 8 bits of fraction: y = y_offset + ((y[0] r + y[1] g + y[2] b + 128) >> 8),
// u = (u[0] r + u[1] g + u[2] b + 128 * 256 + 127) >> 8, of the mean of four pixels. Weights of y are bytes.
struct RgbToYuv {
  int16_t y_offset, y[3], u[3], v[3];
};

// Where the U and V of a row are.
enum class Chroma { kPairs, kHalves, kYuyv, kFull };

// A row of Y, U and V. kPairs: `u` are pairs of U and V, the second of which is U with `swapped`. kYuyv: `y` is all.
struct YuvRow {
  const uint8_t* y;
  const uint8_t* u;
  const uint8_t* v;
  bool swapped;
};

// `channels`: 3 or 4 (alpha 255), 1: the gray; `blue_first`. A function for each Chroma.
using YuvPixels = void(const YuvRow& from, size_t width, const YuvToRgb& how, int channels, bool blue_first,
                       uint8_t* to);

// From `from` channels (1, 3, 4) to 3 or 4; `swapped`: red and blue change places. In place where to <= from.
using ConvertPixels = void(const uint8_t* source, size_t width, int from, int to, bool swapped, uint8_t* target);
// The brightness of 3 or 4 channels. In place, too.
using GrayPixels = void(const uint8_t* source, size_t width, int channels, bool blue_first, uint8_t* target);

// Where Y, U and V of two rows of pixels go.
struct YuvRows {
  uint8_t* y[2];
  uint8_t* u;
  uint8_t* v;
};

// `width` is that of the rows. The rows may be the same, and so may those of Y.
using YuvOfPixels = void(const uint8_t* first, const uint8_t* second, size_t width, int channels, bool blue_first,
                         const RgbToYuv& how, const YuvRows& to);
using SplitPairs = void(const uint8_t* pairs, size_t count, uint8_t* first, uint8_t* second);
using MergePairs = void(const uint8_t* first, const uint8_t* second, size_t count, uint8_t* pairs);

// A column of a resized row: the byte of its left pixel, and the weight of the right one in 1/32768.
struct Columns {
  const int32_t* offsets;
  const int16_t* weights;
  size_t count;
  size_t safe;  // of the first ones, from whose left pixels 8 bytes may be read
};

// Between two pixels of a row, `step` bytes apart, in 1/128.
using ResizeAcross = void(const uint8_t* source, const Columns& columns, int channels, size_t step, int16_t* target);
// Between two rows of those, the second of which weighs weight / 32768.
using ResizeDown = void(const int16_t* first, const int16_t* second, int weight, size_t count, uint8_t* target);
// The same with a weight for each element.
using BlendRows = void(const int16_t* first, const int16_t* second, const int16_t* weights, size_t count,
                       uint8_t* target);
// Rows that a row of a smaller image covers: the first and the last one, and those in between, weigh differently. Of
// one row, the first weight counts.
struct WeightedRows {
  const uint8_t* source;
  size_t stride;
  size_t count;
  float weights[3];
};
using SumRows = void(const WeightedRows& rows, size_t count, float* sums);

// Alike for columns of the sums, of `step` floats each: the first one and the last one of each pixel, and the weights.
// The sums are those from lows[0] on.
struct CoveringColumns {
  const int32_t* lows;
  const int32_t* highs;
  const float* shares[3];
};
// Rounded. Four floats are read where `channels` are wanted.
using SumColumns = void(const float* sums, const CoveringColumns& columns, size_t count, size_t step, size_t channels,
                        uint8_t* target);
// Means of integers are often exact halves: rounding errors do not decide about them.
constexpr float kAreaHalf = 0.5f + 1.0f / 4096;

// The pixels of a row in the opposite order.
using MirrorPixels = void(const uint8_t* source, size_t width, size_t pixel, uint8_t* target);
// Transposes `width` x `height` pixels of 1 to 4 bytes; steps in bytes from row to row, which may be negative.
using TransposePixels = void(const uint8_t* source, ptrdiff_t source_step, size_t width, size_t height, size_t pixel,
                             uint8_t* target, ptrdiff_t target_step);

// byte * gain[c] + bias[c], in the order of the channels.
struct Normal {
  float gain[4];
  float bias[4];
};

// `count` pixels of `channels` bytes, each channel by its gain and bias.
using ElementsF32 = void(const uint8_t* source, size_t count, int channels, const Normal& normal, float* target);
using ElementsF16 = void(const uint8_t* source, size_t count, int channels, const Normal& normal, uint16_t* target);
// Rounded to the nearest, halves to even; low and high of s8 or u8.
using ElementsBytes = void(const uint8_t* source, size_t count, int channels, const Normal& normal, bool is_signed,
                           uint8_t* target);
using SplitChannels = void(const uint8_t* source, size_t count, int channels, uint8_t* planes, size_t plane);

// A function of two instruction sets, the best first; they may be one.
template <typename F>
struct Row {
  F* const* sets[2];

  LATHE_INLINE F* of(int set) const { return *sets[set]; }
};

// The index of the instruction set that this machine runs.
int BestRows();
extern const char* const row_isas[2];

}  // namespace vision
}  // namespace lathe

// All of them: row(type, name).
#define LATHE_EACH_VISION_ROW(row)                                                                                     \
  row(YuvPixels, yuv_pairs) row(YuvPixels, yuv_halves) row(YuvPixels, yuv_yuyv) row(YuvPixels, yuv_full)               \
      row(ConvertPixels, convert_pixels) row(GrayPixels, gray_pixels) row(YuvOfPixels, yuv_of_pixels)                  \
          row(SplitPairs, split_pairs) row(MergePairs, merge_pairs) row(ResizeAcross, resize_across)                   \
              row(ResizeDown, resize_down) row(BlendRows, blend_rows) row(SumRows, sum_rows)                           \
                  row(SumColumns, sum_columns) row(MirrorPixels, mirror_pixels) row(TransposePixels, transpose_pixels) \
                      row(ElementsF32, elements_f32) row(ElementsF16, elements_f16) row(ElementsBytes, elements_bytes) \
                          row(SplitChannels, split_channels)

#define LATHE_DECLARE_VISION_ROW(type, name) extern const Row<type> name;
namespace lathe {
namespace vision {
LATHE_EACH_VISION_ROW(LATHE_DECLARE_VISION_ROW)
}  // namespace vision
}  // namespace lathe

#define LATHE_DECLARE_ROW_OF_SET(type, name) extern type* const name##_row;

// At global scope, once per library: the sets of which it holds rows__<isa>.cc, which may be one.
#define LATHE_DEFINE_VISION_ROWS(best, other)                                                                  \
  namespace lathe {                                                                                            \
  namespace vision {                                                                                           \
  const char* const row_isas[2] = {#best, #other};                                                             \
  namespace best {                                                                                             \
  LATHE_EACH_VISION_ROW(LATHE_DECLARE_ROW_OF_SET)                                                              \
  }                                                                                                            \
  namespace other {                                                                                            \
  LATHE_EACH_VISION_ROW(LATHE_DECLARE_ROW_OF_SET)                                                              \
  }                                                                                                            \
  const Row<YuvPixels> yuv_pairs = {{&best::yuv_pairs_row, &other::yuv_pairs_row}};                            \
  const Row<YuvPixels> yuv_halves = {{&best::yuv_halves_row, &other::yuv_halves_row}};                         \
  const Row<YuvPixels> yuv_yuyv = {{&best::yuv_yuyv_row, &other::yuv_yuyv_row}};                               \
  const Row<YuvPixels> yuv_full = {{&best::yuv_full_row, &other::yuv_full_row}};                               \
  const Row<ConvertPixels> convert_pixels = {{&best::convert_pixels_row, &other::convert_pixels_row}};         \
  const Row<GrayPixels> gray_pixels = {{&best::gray_pixels_row, &other::gray_pixels_row}};                     \
  const Row<YuvOfPixels> yuv_of_pixels = {{&best::yuv_of_pixels_row, &other::yuv_of_pixels_row}};              \
  const Row<SplitPairs> split_pairs = {{&best::split_pairs_row, &other::split_pairs_row}};                     \
  const Row<MergePairs> merge_pairs = {{&best::merge_pairs_row, &other::merge_pairs_row}};                     \
  const Row<ResizeAcross> resize_across = {{&best::resize_across_row, &other::resize_across_row}};             \
  const Row<ResizeDown> resize_down = {{&best::resize_down_row, &other::resize_down_row}};                     \
  const Row<BlendRows> blend_rows = {{&best::blend_rows_row, &other::blend_rows_row}};                         \
  const Row<SumRows> sum_rows = {{&best::sum_rows_row, &other::sum_rows_row}};                                 \
  const Row<SumColumns> sum_columns = {{&best::sum_columns_row, &other::sum_columns_row}};                     \
  const Row<MirrorPixels> mirror_pixels = {{&best::mirror_pixels_row, &other::mirror_pixels_row}};             \
  const Row<TransposePixels> transpose_pixels = {{&best::transpose_pixels_row, &other::transpose_pixels_row}}; \
  const Row<ElementsF32> elements_f32 = {{&best::elements_f32_row, &other::elements_f32_row}};                 \
  const Row<ElementsF16> elements_f16 = {{&best::elements_f16_row, &other::elements_f16_row}};                 \
  const Row<ElementsBytes> elements_bytes = {{&best::elements_bytes_row, &other::elements_bytes_row}};         \
  const Row<SplitChannels> split_channels = {{&best::split_channels_row, &other::split_channels_row}};         \
  }                                                                                                            \
  }

#endif  // LATHE_VISION_ROWS_H_
