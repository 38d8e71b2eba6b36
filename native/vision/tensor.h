// From an image to a tensor in one pass: the rows of the resized image are made tile by tile, become colours, and then
// elements. A library holds the readers, filters and writers that it names.
#ifndef LATHE_VISION_TENSOR_H_
#define LATHE_VISION_TENSOR_H_

#include "native/vision/sampler.h"

namespace lathe {
namespace vision {

struct Pass;

// What reads a family of formats.
struct Reader {
  // Planes and axes of the samplers; returns their number.
  int (*samplers)(const Pass& pass, Sampler* samplers);
  // Row `y` of the tile in the tensor's order of channels: in `buffer`, or where it is in the image.
  const uint8_t* (*row)(const Pass& pass, Sampler* samplers, int y, uint8_t* buffer);
};

// What writes a type of elements.
struct Writer {
  size_t size;
  void (*row)(int set, const uint8_t* source, size_t count, int channels, const Normal& normal, void* target);
};

extern const Reader pixel_reader;   // RGB and the like, GRAY
extern const Reader semi_reader;    // NV12, NV21
extern const Reader planar_reader;  // I420
extern const Reader yuyv_reader;
extern const Writer f32_writer;
extern const Writer f16_writer;
extern const Writer s8_writer;
extern const Writer u8_writer;

struct Content;
struct Turn;

// What gives images borders before they are resized (LATHE_PAD).
struct Padding {
  // Makes the part of the image larger; returns what of the tensor is not border alone.
  Content (*extend)(const lathe_view& view, const Turn& turn, int width, int height, Pass* pass);
  // A row of the tile with the border mixed in: in `buffer`, or the row itself.
  const uint8_t* (*mix)(const Pass& pass, int y, const uint8_t* row, uint8_t* buffer);
};

extern const Padding padding;

// The parts of a pass.
struct Parts {
  const Reader* reader;
  const Filter* filter;
  const Writer* writer;
  const Padding* padding;  // null: the image has no borders of its own
};

// Where the resized image goes: pixel (x, y) of it to base + x * across + y * down.
struct Orientation {
  ptrdiff_t base;
  ptrdiff_t across;
  ptrdiff_t down;
};

// Where the image is within the tensor.
struct Content {
  int left, top, width, height;
};

// x' = m[0] x + m[1] y + m[2], y' alike: from the resized image to the content, edges at integers.
struct Turn {
  int m[6];
};

// From an image that is `width` x `height` pixels when it is turned.
Turn TurnOf(const lathe_view& view, int width, int height);

struct Pass {
  Parts parts;
  Image image;
  int left, top, width, height;  // the part of the image, with borders of its own
  Content inner;                 // the same without them
  int out_width, out_height;     // of it, resized, before it is turned
  int columns[2], rows[2];       // of that: what is made, from the first to that after the last
  uint32_t filter;
  uint8_t fill[4];
  bool same_size;
  bool gray;
  bool blue_first;
  int channels;  // of the tensor
  Orientation orientation;
  Normal normal;
  bool planes;
  size_t plane;  // pixels of the tensor
  uint8_t* tensor;
  int first, count;  // of the tile
  int set;           // of the rows
};

// What a library holds; null: it does not.
struct KnownParts {
  const Reader* readers[4];  // of whole pixels, NV12 and NV21, I420, YUYV
  const Filter* filters[3];  // LATHE_NEAREST, LATHE_BILINEAR, LATHE_AREA
  const Writer* writers[4];  // LATHE_F32, LATHE_F16, LATHE_S8, LATHE_U8
  const Padding* padding;    // LATHE_PAD
};

struct TensorCall {
  const lathe_image* image;
  const lathe_view* view;
  const lathe_elements* elements;
  int width;
  int height;
  void* tensor;
  size_t bytes;
  lathe_placement* placement;
};

// Checks everything, and fills the tensor.
Code FillTensor(const TensorCall& call, const KnownParts& known, const ErrorSink& errors);

// The functions of the table.
lathe_code ToTensor(const lathe_image* image, const lathe_view* view, const lathe_elements* elements, int32_t width,
                    int32_t height, void* tensor, size_t bytes, lathe_placement* placement, lathe_error* error);
void BoxesBack(const lathe_placement* placement, lathe_box* boxes, size_t count);
void PointsBack(const lathe_placement* placement, lathe_point* points, size_t count);

}  // namespace vision
}  // namespace lathe

#endif  // LATHE_VISION_TENSOR_H_
