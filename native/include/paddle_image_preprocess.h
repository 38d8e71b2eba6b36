// The image processing of Paddle-Lite's C++ interface, for programs that were written for it: over the functions of
// lathe/vision.h that the library of this folder holds. Its deployment names them: `vision: convert, resize, rotate,
// flip, to_tensor`, or those that the program calls.
//
// What is wrong comes as an exception, as in paddle_api.h.
#ifndef PADDLE_IMAGE_PREPROCESS_H_
#define PADDLE_IMAGE_PREPROCESS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "lathe/vision.h"
#include "paddle_api.h"

namespace paddle {
namespace lite {
namespace utils {
namespace cv {

typedef paddle::lite_api::Tensor Tensor;

enum ImageFormat {
  RGBA = 0,
  BGRA,
  RGB,
  BGR,
  GRAY,
  NV21 = 11,
  NV12,
};

enum FlipParam {
  X = 0,  // the last row becomes the first
  Y,      // the last column becomes the first
  XY,
};

typedef struct {
  int ih;
  int iw;
  int oh;
  int ow;
  FlipParam flip_param;
  float rotate_param;  // clockwise: 90, 180, 270
} TransParam;

// The order of a tensor's axes. Versions of Paddle-Lite differ in the names.
class LayoutType {
 public:
  enum Value { kNCHW = 1, kNHWC = 3, NCHW = kNCHW, NHWC = kNHWC };
  LayoutType(Value value) : value_(value) {}  // NOLINT(google-explicit-constructor): stands for an enumeration
  LayoutType(lite_api::DataLayoutType type)   // NOLINT(google-explicit-constructor)
      : value_(type == lite_api::DataLayoutType::kNHWC ? kNHWC : kNCHW) {
    if (type != lite_api::DataLayoutType::kNHWC && type != lite_api::DataLayoutType::kNCHW)
      lite_api::face::Fail("image2Tensor: a layout is NCHW or NHWC");
  }
  bool planes() const { return value_ == kNCHW; }

 private:
  Value value_;
};

class ImagePreprocess {
 public:
  ImagePreprocess() : srcFormat_(RGBA), dstFormat_(RGBA), transParam_() {}
  ImagePreprocess(ImageFormat srcFormat, ImageFormat dstFormat, TransParam param)
      : srcFormat_(srcFormat), dstFormat_(dstFormat), transParam_(param) {}

  // From srcFormat to dstFormat; images of iw x ih pixels.
  void imageConvert(const uint8_t* src, uint8_t* dst) const { imageConvert(src, dst, srcFormat_, dstFormat_); }
  void imageConvert(const uint8_t* src, uint8_t* dst, ImageFormat srcFormat, ImageFormat dstFormat) const {
    imageConvert(src, dst, srcFormat, dstFormat, transParam_.iw, transParam_.ih);
  }
  void imageConvert(const uint8_t* src, uint8_t* dst, ImageFormat srcFormat, ImageFormat dstFormat, int srcw,
                    int srch) const {
    const lathe_image from = Image(src, srcFormat, srcw, srch), to = Image(dst, dstFormat, srcw, srch);
    Check(Find(&lathe_vision_api::convert, "convert"), &from, &to);
  }
  // The name in documents of Paddle-Lite up to version 2.3.
  void imageCovert(const uint8_t* src, uint8_t* dst) const { imageConvert(src, dst); }
  void imageCovert(const uint8_t* src, uint8_t* dst, ImageFormat srcFormat, ImageFormat dstFormat) const {
    imageConvert(src, dst, srcFormat, dstFormat);
  }

  // Bilinear.
  void imageResize(const uint8_t* src, uint8_t* dst) const {
    imageResize(src, dst, dstFormat_, transParam_.iw, transParam_.ih, transParam_.ow, transParam_.oh);
  }
  void imageResize(const uint8_t* src, uint8_t* dst, ImageFormat srcFormat, int srcw, int srch, int dstw,
                   int dsth) const {
    const lathe_image from = Image(src, srcFormat, srcw, srch), to = Image(dst, srcFormat, dstw, dsth);
    Check(Find(&lathe_vision_api::resize, "resize"), &from, &to, static_cast<uint32_t>(LATHE_BILINEAR));
  }

  void imageRotate(const uint8_t* src, uint8_t* dst) const {
    imageRotate(src, dst, dstFormat_, transParam_.ow, transParam_.oh, transParam_.rotate_param);
  }
  void imageRotate(const uint8_t* src, uint8_t* dst, ImageFormat srcFormat, int srcw, int srch, float degree) const {
    const bool sideways = degree == 90.0f || degree == 270.0f;
    const lathe_image from = Image(src, srcFormat, srcw, srch);
    const lathe_image to = Image(dst, srcFormat, sideways ? srch : srcw, sideways ? srcw : srch);
    if (degree != 180.0f && !sideways) lite_api::face::Fail("imageRotate: degrees are 90, 180 or 270");
    Check(Find(&lathe_vision_api::rotate, "rotate"), &from, &to, static_cast<uint32_t>(degree));
  }

  void imageFlip(const uint8_t* src, uint8_t* dst) const {
    imageFlip(src, dst, dstFormat_, transParam_.ow, transParam_.oh, transParam_.flip_param);
  }
  void imageFlip(const uint8_t* src, uint8_t* dst, ImageFormat srcFormat, int srcw, int srch,
                 FlipParam flip_param) const {
    const lathe_image from = Image(src, srcFormat, srcw, srch), to = Image(dst, srcFormat, srcw, srch);
    const uint32_t axes = flip_param == X ? LATHE_FLIP_X : (flip_param == Y ? LATHE_FLIP_Y : LATHE_FLIP_XY);
    Check(Find(&lathe_vision_api::flip, "flip"), &from, &to, axes);
  }

  // (byte - mean) * scale for the channels of the image, in its order, without alpha. A tensor of another size is
  // resized to [1, channels, h, w] or [1, h, w, channels].
  void image2Tensor(const uint8_t* src, Tensor* dstTensor, LayoutType layout, float* means, float* scales) const {
    image2Tensor(src, dstTensor, dstFormat_, transParam_.ow, transParam_.oh, layout, means, scales);
  }
  void image2Tensor(const uint8_t* src, Tensor* dstTensor, ImageFormat srcFormat, int srcw, int srch, LayoutType layout,
                    float* means, float* scales) const {
    const lathe_image image = Image(src, srcFormat, srcw, srch);
    const bool gray = srcFormat == GRAY, blue_first = srcFormat == BGR || srcFormat == BGRA;
    const int64_t channels = gray ? 1 : 3;
    lathe_elements elements = {};
    elements.struct_size = sizeof(elements);
    elements.dtype = LATHE_F32;
    elements.order = gray ? LATHE_GRAY : (blue_first ? LATHE_BGR : LATHE_RGB);
    elements.planes = layout.planes() ? 1 : 0;
    for (int c = 0; c < channels; ++c) {
      elements.mean[c] = means[c];
      elements.scale[c] = scales[c];
    }
    const int64_t height = srch, width = srcw;
    int64_t count = 1;
    for (int64_t size : dstTensor->shape()) count *= size;
    if (count != channels * height * width)
      dstTensor->Resize(layout.planes() ? lite_api::shape_t{1, channels, height, width}
                                        : lite_api::shape_t{1, height, width, channels});
    const size_t bytes = static_cast<size_t>(channels * height * width) * sizeof(float);
    lathe_view* const whole = nullptr;
    lathe_placement* const none = nullptr;
    Check(Find(&lathe_vision_api::to_tensor, "to_tensor"), &image, whole, &elements, srcw, srch,
          static_cast<void*>(dstTensor->mutable_data<float>()), bytes, none);
  }

 private:
  static lathe_image Image(const uint8_t* data, ImageFormat format, int width, int height) {
    lathe_image image = {};
    image.struct_size = sizeof(image);
    image.pixels = Pixels(format);
    image.width = width;
    image.height = height;
    image.data[0] = const_cast<uint8_t*>(data);
    return image;
  }

  static lathe_pixels Pixels(ImageFormat format) {
    switch (format) {
      case RGBA:
        return LATHE_RGBA;
      case BGRA:
        return LATHE_BGRA;
      case RGB:
        return LATHE_RGB;
      case BGR:
        return LATHE_BGR;
      case GRAY:
        return LATHE_GRAY;
      case NV21:
        return LATHE_NV21;
      case NV12:
        return LATHE_NV12;
    }
    lite_api::face::Fail("ImagePreprocess: no format of images has the number " + std::to_string(format));
  }

  // The function of a library that this file makes predictors from.
  template <typename Function>
  static Function Find(Function lathe_vision_api::* member, const char* name) {
    for (const lathe_api* api : lite_api::face::BoundLibraries()) {
      const bool holds_images = api->struct_size > offsetof(lathe_api, vision) && api->vision != nullptr;
      if (holds_images && api->vision->*member != nullptr) return api->vision->*member;
    }
    lite_api::face::Fail(std::string("ImagePreprocess: the library was built without '") + name +
                         "': add it to the key 'vision' of the deployment file");
  }

  template <typename Function, typename... Arguments>
  static void Check(Function function, Arguments... arguments) {
    lathe_error error;
    if (function(arguments..., &error) != LATHE_OK) lite_api::face::Fail(error.message);
  }

  ImageFormat srcFormat_;
  ImageFormat dstFormat_;
  TransParam transParam_;
};

}  // namespace cv
}  // namespace utils
}  // namespace lite
}  // namespace paddle

#endif  // PADDLE_IMAGE_PREPROCESS_H_
