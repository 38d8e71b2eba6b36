// The tables of rows.h for one instruction set: rows__<isa>.cc.
#ifndef LATHE_VISION_ROWS_UNIT_H_
#define LATHE_VISION_ROWS_UNIT_H_

#include "native/vision/rows.h"
#include "native/vision/rows_flip.h"
#include "native/vision/rows_pixels.h"
#include "native/vision/rows_resize.h"
#include "native/vision/rows_tensor.h"
#include "native/vision/rows_yuv.h"

#define LATHE_ROWS_NAME_(name, isa) name##_##isa
#define LATHE_ROWS_NAME(name, isa) LATHE_ROWS_NAME_(name, isa)

namespace lathe {
namespace vision {

extern const YuvRows LATHE_ROWS_NAME(yuv_rows, LATHE_ISA);
extern const PixelRows LATHE_ROWS_NAME(pixel_rows, LATHE_ISA);
extern const ResizeRows LATHE_ROWS_NAME(resize_rows, LATHE_ISA);
extern const FlipRows LATHE_ROWS_NAME(flip_rows, LATHE_ISA);
extern const TensorRows LATHE_ROWS_NAME(tensor_rows, LATHE_ISA);

const YuvRows LATHE_ROWS_NAME(yuv_rows, LATHE_ISA) = {YuvPixels};
const PixelRows LATHE_ROWS_NAME(pixel_rows, LATHE_ISA) = {ConvertPixels, Luma, ChromaOfRows, Split2, Merge2};
const ResizeRows LATHE_ROWS_NAME(resize_rows, LATHE_ISA) = {Across, Down, AddRow};
const FlipRows LATHE_ROWS_NAME(flip_rows, LATHE_ISA) = {Mirror, Transpose};
const TensorRows LATHE_ROWS_NAME(tensor_rows, LATHE_ISA) = {ToF32, ToF16, ToBytes, SplitPlanes};

}  // namespace vision
}  // namespace lathe

#endif  // LATHE_VISION_ROWS_UNIT_H_
