// Rotation by right angles and reflection.
#include "native/vision/image.h"

namespace lathe {
namespace vision {
namespace {

Code CheckTurned(const Image& from, const Image& to, bool sideways, const char* what, const ErrorSink& errors) {
  const int width = sideways ? from.height : from.width, height = sideways ? from.width : from.height;
  if (to.width != width || to.height != height)
    return errors.Fail(Code::kInvalidArgument, "%s: the target of an image of %dx%d pixels has %dx%d, not %dx%d", what,
                       from.width, from.height, width, height, to.width, to.height);
  return CheckApart(from, to, errors);
}

void FlipPlane(const Plane& from, const Plane& to, uint32_t axes) {
  MirrorPixels* const mirror = mirror_pixels.of(BestRows());
  for (int y = 0; y < from.height; ++y) {
    const uint8_t* source = from.row(y);
    uint8_t* target = to.row((axes & LATHE_FLIP_X) != 0 ? from.height - 1 - y : y);
    if ((axes & LATHE_FLIP_Y) != 0) {
      mirror(source, static_cast<size_t>(from.width), static_cast<size_t>(from.pixel), target);
    } else {
      memcpy(target, source, from.row_bytes());
    }
  }
}

// By 90 degrees the last row becomes the first column; by 270, the first row the first column, from below.
void TurnPlane(const Plane& from, const Plane& to, uint32_t degrees) {
  TransposePixels* const transpose = transpose_pixels.of(BestRows());
  const ptrdiff_t source_step = static_cast<ptrdiff_t>(from.stride), target_step = static_cast<ptrdiff_t>(to.stride);
  const size_t width = static_cast<size_t>(from.width), height = static_cast<size_t>(from.height);
  const size_t pixel = static_cast<size_t>(from.pixel);
  if (degrees == 90) {
    transpose(from.row(from.height - 1), -source_step, width, height, pixel, to.data, target_step);
  } else {
    transpose(from.data, source_step, width, height, pixel, to.row(to.height - 1), -target_step);
  }
}

}  // namespace

lathe_code Rotate(const lathe_image* source, const lathe_image* target, uint32_t degrees, lathe_error* error) {
  const ErrorSink errors = Begin(error);
  Image from, to;
  Code code = CheckImage(source, "rotate: source", &from, errors);
  if (code == Code::kOk) code = CheckImage(target, "rotate: target", &to, errors);
  if (code == Code::kOk && degrees != 90 && degrees != 180 && degrees != 270)
    code = errors.Fail(Code::kInvalidArgument, "rotate: by %u degrees; 90, 180 and 270 are possible", degrees);
  if (code == Code::kOk) code = CheckSameFormat(from, to, errors);
  if (code == Code::kOk) code = CheckTurned(from, to, degrees != 180, "rotate", errors);
  if (code != Code::kOk) return Public(code);
  for (int i = 0; i < from.plane_count; ++i) {
    if (degrees == 180) {
      FlipPlane(from.planes[i], to.planes[i], LATHE_FLIP_XY);
    } else {
      TurnPlane(from.planes[i], to.planes[i], degrees);
    }
  }
  return LATHE_OK;
}

lathe_code Flip(const lathe_image* source, const lathe_image* target, uint32_t axes, lathe_error* error) {
  const ErrorSink errors = Begin(error);
  Image from, to;
  Code code = CheckImage(source, "flip: source", &from, errors);
  if (code == Code::kOk) code = CheckImage(target, "flip: target", &to, errors);
  if (code == Code::kOk && axes > LATHE_FLIP_XY)
    code = errors.Fail(Code::kInvalidArgument, "flip: %u are no axes", axes);
  if (code == Code::kOk) code = CheckSameFormat(from, to, errors);
  if (code == Code::kOk) code = CheckTurned(from, to, false, "flip", errors);
  if (code != Code::kOk) return Public(code);
  for (int i = 0; i < from.plane_count; ++i) FlipPlane(from.planes[i], to.planes[i], axes);
  return LATHE_OK;
}

}  // namespace vision
}  // namespace lathe
