// Images as the functions see them: checked, with all planes and strides filled in.
#ifndef LATHE_VISION_IMAGE_H_
#define LATHE_VISION_IMAGE_H_

#include "lathe/vision.h"
#include "native/runtime/status.h"
#include "native/vision/rows.h"

namespace lathe {
namespace vision {

constexpr int kMaxSide = 32768;
// Columns that are worked on at once: what is kept of a row is on the stack. Even, for pairs of pixels.
constexpr int kTile = 256;

struct Plane {
  uint8_t* data;
  size_t stride;
  int width;  // in `pixel` bytes each
  int height;
  int pixel;

  LATHE_INLINE uint8_t* row(int y) const { return data + static_cast<size_t>(y) * stride; }
  LATHE_INLINE size_t row_bytes() const { return static_cast<size_t>(width) * static_cast<size_t>(pixel); }
};

struct Image {
  lathe_pixels pixels;
  uint32_t yuv;
  int width;
  int height;
  int plane_count;
  Plane planes[3];

  LATHE_INLINE bool is_yuv() const { return pixels >= LATHE_NV12; }
  LATHE_INLINE bool is_semi_planar() const { return pixels == LATHE_NV12 || pixels == LATHE_NV21; }
};

// The start of a call: the error of the caller is empty.
ErrorSink Begin(lathe_error* error);

inline lathe_code Public(Code code) { return static_cast<lathe_code>(code); }

// Bytes of a whole pixel; 0 for formats whose pixels share U and V.
int ChannelsOf(lathe_pixels pixels);
inline bool BlueFirst(lathe_pixels pixels) { return pixels == LATHE_BGR || pixels == LATHE_BGRA; }

// `what` is its name in messages.
Code CheckImage(const lathe_image* given, const char* what, Image* image, const ErrorSink& errors);
Code CheckApart(const Image& from, const Image& to, const ErrorSink& errors);
Code CheckSameFormat(const Image& from, const Image& to, const ErrorSink& errors);

YuvToRgb ToRgb(uint32_t yuv);
RgbToYuv ToYuv(uint32_t yuv);

// The functions of the table.
lathe_code Convert(const lathe_image* from, const lathe_image* to, lathe_error* error);
lathe_code Resize(const lathe_image* from, const lathe_image* to, uint32_t filter, lathe_error* error);
lathe_code Rotate(const lathe_image* from, const lathe_image* to, uint32_t degrees, lathe_error* error);
lathe_code Flip(const lathe_image* from, const lathe_image* to, uint32_t axes, lathe_error* error);
lathe_code Warp(const lathe_image* from, const lathe_image* to, const float matrix[6], uint32_t filter,
                const uint8_t fill[4], lathe_error* error);
lathe_code Crop(const lathe_image* image, int32_t left, int32_t top, int32_t width, int32_t height, lathe_image* part,
                lathe_error* error);

}  // namespace vision
}  // namespace lathe

#endif  // LATHE_VISION_IMAGE_H_
