#include "native/vision/image.h"

#include "native/runtime/cpu.h"

namespace lathe {
namespace vision {

ErrorSink Begin(lathe_error* error) {
  if (error != nullptr) {
    error->code = LATHE_OK;
    error->message[0] = 0;
  }
  return ErrorSink(error);
}

// Asking the processor takes 14 us in a virtual machine, more than a small image: what it answered is kept.
int BestRows() {
  static int known = -1;
  int set = __atomic_load_n(&known, __ATOMIC_RELAXED);
  if (set >= 0) return set;
  set = CpuRuns(row_isas[0]) ? 0 : 1;
  __atomic_store_n(&known, set, __ATOMIC_RELAXED);
  return set;
}

int ChannelsOf(lathe_pixels pixels) {
  if (pixels == LATHE_RGB || pixels == LATHE_BGR) return 3;
  if (pixels == LATHE_RGBA || pixels == LATHE_BGRA) return 4;
  return pixels == LATHE_GRAY ? 1 : 0;
}

namespace {

// Sizes of all planes; where they are is not known yet.
void DescribePlanes(Image* image) {
  const int half_width = (image->width + 1) / 2, half_height = (image->height + 1) / 2;
  Plane* planes = image->planes;
  image->plane_count = 1;
  planes[0] = {nullptr, 0, image->width, image->height, image->is_yuv() ? 1 : ChannelsOf(image->pixels)};
  if (image->pixels == LATHE_YUYV) planes[0] = {nullptr, 0, half_width, image->height, 4};
  if (image->is_semi_planar()) {
    image->plane_count = 2;
    planes[1] = {nullptr, 0, half_width, half_height, 2};
  }
  if (image->pixels == LATHE_I420) {
    image->plane_count = 3;
    planes[1] = planes[2] = {nullptr, 0, half_width, half_height, 1};
  }
}

size_t BytesOf(const Plane& plane) { return static_cast<size_t>(plane.height - 1) * plane.stride + plane.row_bytes(); }

bool Overlap(const Plane& a, const Plane& b) {
  const uintptr_t first = reinterpret_cast<uintptr_t>(a.data), second = reinterpret_cast<uintptr_t>(b.data);
  return first < second + BytesOf(b) && second < first + BytesOf(a);
}

}  // namespace

Code CheckImage(const lathe_image* given, const char* what, Image* image, const ErrorSink& errors) {
  if (given == nullptr) return errors.Fail(Code::kInvalidArgument, "%s: the image is NULL", what);
  if (given->struct_size < sizeof(lathe_image))
    return errors.Fail(Code::kInvalidArgument, "%s: struct_size of the image is not set", what);
  if (given->pixels < LATHE_RGB || given->pixels > LATHE_YUYV)
    return errors.Fail(Code::kInvalidArgument, "%s: %u is no format of pixels", what, given->pixels);
  if (given->yuv > LATHE_YUV_HD)
    return errors.Fail(Code::kInvalidArgument, "%s: %u is no meaning of Y, U and V", what, given->yuv);
  if (given->width < 1 || given->height < 1 || given->width > kMaxSide || given->height > kMaxSide)
    return errors.Fail(Code::kInvalidArgument, "%s: an image of %dx%d pixels; 1x1 to %dx%d are possible", what,
                       given->width, given->height, kMaxSide, kMaxSide);
  *image = {given->pixels, given->yuv, given->width, given->height, 1, {}};
  DescribePlanes(image);
  for (int i = 0; i < image->plane_count; ++i) {
    Plane& plane = image->planes[i];
    plane.data = static_cast<uint8_t*>(given->data[i]);
    plane.stride = given->strides[i];
    if (plane.stride == 0) {
      // Planes that follow the first have rows like it: cameras have one stride for all.
      const bool follows = i > 0 && plane.data == nullptr && given->strides[0] != 0;
      plane.stride = follows ? given->strides[0] / (plane.pixel == 1 ? 2 : 1) : plane.row_bytes();
    }
    if (plane.stride < plane.row_bytes())
      return errors.Fail(Code::kInvalidArgument, "%s: rows of plane %d are %zu bytes, and %zu from each other", what, i,
                         plane.row_bytes(), plane.stride);
    if (plane.stride > (size_t{1} << 24))
      return errors.Fail(Code::kInvalidArgument, "%s: rows of plane %d are %zu bytes from each other; 16 MiB at most",
                         what, i, plane.stride);
    if (plane.data == nullptr && i > 0) {
      const Plane& before = image->planes[i - 1];
      plane.data = before.data + static_cast<size_t>(before.height) * before.stride;
    }
    if (plane.data == nullptr) return errors.Fail(Code::kInvalidArgument, "%s: data of the image is NULL", what);
  }
  return Code::kOk;
}

Code CheckApart(const Image& from, const Image& to, const ErrorSink& errors) {
  for (int i = 0; i < from.plane_count; ++i) {
    for (int k = 0; k < to.plane_count; ++k) {
      if (Overlap(from.planes[i], to.planes[k]))
        return errors.Fail(Code::kInvalidArgument, "source and target overlap: this function needs other memory");
    }
  }
  return Code::kOk;
}

Code CheckSameFormat(const Image& from, const Image& to, const ErrorSink& errors) {
  if (from.pixels != to.pixels)
    return errors.Fail(Code::kInvalidArgument, "source and target have the formats %u and %u: they must be equal",
                       from.pixels, to.pixels);
  if (from.pixels == LATHE_YUYV)
    return errors.Fail(Code::kUnsupported, "pixels of YUYV cannot be moved: convert the image to I420 before");
  return Code::kOk;
}

YuvToRgb ToRgb(uint32_t yuv) {
  if (yuv == LATHE_YUV_VIDEO) return {16, 149, 409, 50, 104, 517};
  if (yuv == LATHE_YUV_HD) return {16, 149, 459, 27, 68, 541};
  return {0, 128, 358, 44, 91, 454};
}

RgbToYuv ToYuv(uint32_t yuv) {
  if (yuv == LATHE_YUV_VIDEO) return {16, {66, 129, 25}, {-38, -74, 112}, {112, -94, -18}};
  if (yuv == LATHE_YUV_HD) return {16, {47, 157, 16}, {-26, -86, 112}, {112, -102, -10}};
  return {0, {77, 150, 29}, {-43, -85, 128}, {128, -107, -21}};
}

lathe_code Crop(const lathe_image* image, int32_t left, int32_t top, int32_t width, int32_t height, lathe_image* part,
                lathe_error* error) {
  const ErrorSink errors = Begin(error);
  Image whole;
  if (const Code code = CheckImage(image, "crop", &whole, errors); code != Code::kOk) return Public(code);
  if (part == nullptr) return Public(errors.Fail(Code::kInvalidArgument, "crop: the part is NULL"));
  if (left < 0 || top < 0 || width < 1 || height < 1 || left > whole.width - width || top > whole.height - height)
    return Public(errors.Fail(Code::kInvalidArgument, "crop: %dx%d pixels from %d, %d on are not inside of %dx%d",
                              width, height, left, top, whole.width, whole.height));
  if (whole.is_yuv() && (left % 2 != 0 || (top % 2 != 0 && whole.pixels != LATHE_YUYV)))
    return Public(errors.Fail(Code::kInvalidArgument,
                              "crop: %d, %d: pixels share U and V, the part has to begin at even numbers", left, top));
  lathe_image made = *image;
  made.struct_size = sizeof(lathe_image);
  made.width = width;
  made.height = height;
  for (int i = 0; i < whole.plane_count; ++i) {
    const Plane& plane = whole.planes[i];
    const bool halved = i > 0 || whole.pixels == LATHE_YUYV;
    const int x = halved ? left / 2 : left, y = i > 0 ? top / 2 : top;
    made.data[i] = plane.row(y) + static_cast<size_t>(x) * static_cast<size_t>(plane.pixel);
    made.strides[i] = plane.stride;
  }
  *part = made;
  return LATHE_OK;
}

}  // namespace vision
}  // namespace lathe
