// Inputs of models that images fill: what generated files of libraries say of them, and the functions of the table.
#ifndef LATHE_VISION_SESSION_H_
#define LATHE_VISION_SESSION_H_

#include "native/vision/answers.h"
#include "native/vision/tensor.h"

namespace lathe {
namespace vision {

// `preprocess` of an input: the same in all models of a library that have an input of this name.
struct InputImage {
  const char* input;
  int32_t crop[4];  // left, top, width, height; all 0: the whole image
  uint32_t filter;
  uint32_t rotation;
  uint32_t flip;
  uint32_t fit;
  uint8_t fill[4];  // these by channel of the input
  lathe_pixels order;
  float mean[4];
  float scale[4];
};

// Of a library.
extern const Span<const InputImage> input_images;
extern const KnownParts held_parts;

// The functions of the table.
lathe_code RunImage(lathe_session* session, size_t input, const lathe_image* image, const int32_t part[4],
                    lathe_placement* placement, lathe_error* error);
lathe_code SetImage(lathe_session* session, size_t input, const lathe_image* image, const int32_t part[4],
                    lathe_placement* placement, lathe_error* error);

}  // namespace vision
}  // namespace lathe

// At global scope, once per library with RunImage or SetImage: an array of InputImage, and what fills them.
#define LATHE_DEFINE_INPUT_IMAGES(images, parts)        \
  namespace lathe {                                     \
  namespace vision {                                    \
  const Span<const InputImage> input_images = {images}; \
  const KnownParts held_parts = parts;                  \
  }                                                     \
  }

#endif  // LATHE_VISION_SESSION_H_
