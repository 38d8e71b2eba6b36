/* Depthwise convolution of bytes: one channel after the other, from a copy of its plane with a border around it. A
 * plane is read before results are written, so output and input may be one buffer where both have as many channels.
 * Weights: [channels][rows][columns].
 */
#include "depthwise_rows.h"
#include "fixed_point.h"

typedef struct lm_plane {
  uint32_t height, width; /* with the border */
} lm_plane;

/* As large as the windows reach. */
static lm_plane plane_of(const lm_image* image) {
  lm_plane plane;
  plane.height =
      (uint32_t)(image->out_h - 1) * image->stride_h + (uint32_t)(image->kernel_h - 1) * image->dilation_h + 1;
  plane.width = lm_row_width(image);
  return plane;
}

static void copy_plane(const int8_t* x, lm_element* to, const lm_image* image, lm_plane plane, lm_element fill) {
  const uint32_t inside = plane.width - image->pad_left < image->in_w ? plane.width - image->pad_left : image->in_w;
  for (uint32_t row = 0; row < plane.height; ++row, to += plane.width) {
    const int32_t from = (int32_t)row - image->pad_top;
    if (from < 0 || from >= image->in_h) {
      for (uint32_t k = 0; k < plane.width; ++k) to[k] = fill;
      continue;
    }
    for (uint32_t k = 0; k < image->pad_left; ++k) to[k] = fill;
    lm_copy_row(x + (size_t)from * image->in_w * image->in_c, to + image->pad_left, inside, image->in_c);
    for (uint32_t k = image->pad_left + inside; k < plane.width; ++k) to[k] = fill;
  }
}

void lm_depthwise_s8(const int8_t* x, int8_t* y, void* scratch, const lm_conv* layer) {
  const lm_image* image = &layer->image;
  const lm_plane plane = plane_of(image);
  const uint32_t taps = (uint32_t)image->kernel_h * image->kernel_w;
  const uint32_t times = (uint32_t)image->out_c / image->in_c;
  lm_element* numbers = scratch;
  int32_t* sums = (int32_t*)((uintptr_t)(numbers + plane.height * plane.width + 3) & ~(uintptr_t)3);
  const int8_t* weights = layer->weights;
  for (uint32_t channel = 0; channel < image->out_c; ++channel, weights += taps) {
    if (channel % times == 0) copy_plane(x + channel / times, numbers, image, plane, (lm_element)layer->bounds.in_zero);
    lm_channel(numbers, plane.width, weights, sums, y + channel, layer, channel);
  }
}
