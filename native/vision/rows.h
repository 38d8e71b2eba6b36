// What instruction sets implement: the inner loops over rows of bytes. One object per set, rows__<isa>.cc; a library
// holds the tables that its functions use, of the sets of its ABI.
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
// u = (u[0] r + u[1] g + u[2] b + 128 * 256 + 127) >> 8, of the mean of four pixels.
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

struct YuvRows {
  // `channels`: 3 or 4 (alpha 255), 1: the gray; `blue_first`.
  void (*pixels)(Chroma chroma, const YuvRow& from, size_t width, const YuvToRgb& how, int channels, bool blue_first,
                 uint8_t* to);
};

struct PixelRows {
  // From `from` channels (1, 3, 4) to `to`; `swapped`: red and blue change places. In place where to <= from.
  void (*convert)(const uint8_t* source, size_t width, int from, int to, bool swapped, uint8_t* target);
  // The Y of a row.
  void (*luma)(const uint8_t* source, size_t width, int channels, bool blue_first, const RgbToYuv& how,
               uint8_t* target);
  // U and V of two rows; `width` is that of the rows. The rows may be the same.
  void (*chroma)(const uint8_t* first, const uint8_t* second, size_t width, int channels, bool blue_first,
                 const RgbToYuv& how, uint8_t* u, uint8_t* v);
  void (*split2)(const uint8_t* pairs, size_t count, uint8_t* first, uint8_t* second);
  void (*merge2)(const uint8_t* first, const uint8_t* second, size_t count, uint8_t* pairs);
};

// A column of a resized row: the byte of its left pixel, and the weight of the right one in 1/32768.
struct Columns {
  const int32_t* offsets;
  const int16_t* weights;
  size_t count;
  size_t safe;  // of the first ones, from whose left pixels 8 bytes may be read
};

struct ResizeRows {
  // Between two pixels of a row, `step` bytes apart, in 1/128.
  void (*across)(const uint8_t* source, const Columns& columns, int channels, size_t step, int16_t* target);
  // Between two rows of those, the second of which weighs weight / 32768.
  void (*down)(const int16_t* first, const int16_t* second, int weight, size_t count, uint8_t* target);
  // sums[i] += weight * source[i]
  void (*add)(const uint8_t* source, float weight, size_t count, float* sums);
};

struct FlipRows {
  // The pixels of a row in the opposite order.
  void (*mirror)(const uint8_t* source, size_t width, size_t pixel, uint8_t* target);
  // Transposes `width` x `height` pixels of 1 to 4 bytes; steps in bytes from row to row, which may be negative.
  void (*transpose)(const uint8_t* source, ptrdiff_t source_step, size_t width, size_t height, size_t pixel,
                    uint8_t* target, ptrdiff_t target_step);
};

// byte * gain[c] + bias[c], in the order of the channels.
struct Normal {
  float gain[4];
  float bias[4];
};

struct TensorRows {
  // `count` pixels of `channels` bytes, each channel by its gain and bias.
  void (*f32)(const uint8_t* source, size_t count, int channels, const Normal& normal, float* target);
  void (*f16)(const uint8_t* source, size_t count, int channels, const Normal& normal, uint16_t* target);
  // Rounded to the nearest, halves to even; low and high of s8 or u8.
  void (*bytes)(const uint8_t* source, size_t count, int channels, const Normal& normal, bool is_signed,
                uint8_t* target);
  void (*split)(const uint8_t* source, size_t count, int channels, uint8_t* planes, size_t plane);
};

// The tables of the instruction sets of a library, the best first; at most two.
extern const char* const row_isas[2];
extern const YuvRows* const yuv_rows[2];
extern const PixelRows* const pixel_rows[2];
extern const ResizeRows* const resize_rows[2];
extern const FlipRows* const flip_rows[2];
extern const TensorRows* const tensor_rows[2];

// The index of the tables that this machine runs.
int BestRows();

}  // namespace vision
}  // namespace lathe

#define LATHE_DECLARE_VISION_ROWS(isa)       \
  namespace lathe {                          \
  namespace vision {                         \
  extern const YuvRows yuv_rows_##isa;       \
  extern const PixelRows pixel_rows_##isa;   \
  extern const ResizeRows resize_rows_##isa; \
  extern const FlipRows flip_rows_##isa;     \
  extern const TensorRows tensor_rows_##isa; \
  }                                          \
  }

// At global scope, once per library: the sets of which it holds rows__<isa>.cc, which may be one.
#define LATHE_DEFINE_VISION_ROWS(best, other)                                           \
  LATHE_DECLARE_VISION_ROWS(best)                                                       \
  LATHE_DECLARE_VISION_ROWS(other)                                                      \
  namespace lathe {                                                                     \
  namespace vision {                                                                    \
  const char* const row_isas[2] = {#best, #other};                                      \
  const YuvRows* const yuv_rows[2] = {&yuv_rows_##best, &yuv_rows_##other};             \
  const PixelRows* const pixel_rows[2] = {&pixel_rows_##best, &pixel_rows_##other};     \
  const ResizeRows* const resize_rows[2] = {&resize_rows_##best, &resize_rows_##other}; \
  const FlipRows* const flip_rows[2] = {&flip_rows_##best, &flip_rows_##other};         \
  const TensorRows* const tensor_rows[2] = {&tensor_rows_##best, &tensor_rows_##other}; \
  }                                                                                     \
  }

#endif  // LATHE_VISION_ROWS_H_
