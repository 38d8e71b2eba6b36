// The functions of rows.h for one instruction set: rows__<isa>.cc.
#ifndef LATHE_VISION_ROWS_UNIT_H_
#define LATHE_VISION_ROWS_UNIT_H_

#include "native/vision/rows.h"
#include "native/vision/rows_flip.h"
#include "native/vision/rows_pixels.h"
#include "native/vision/rows_resize.h"
#include "native/vision/rows_tensor.h"
#include "native/vision/rows_yuv.h"

namespace lathe {
namespace vision {
namespace LATHE_ISA {

LATHE_EACH_VISION_ROW(LATHE_DECLARE_ROW_OF_SET)

YuvPixels* const yuv_pairs_row = YuvRowOf<Chroma::kPairs>;
YuvPixels* const yuv_halves_row = YuvRowOf<Chroma::kHalves>;
YuvPixels* const yuv_yuyv_row = YuvRowOf<Chroma::kYuyv>;
YuvPixels* const yuv_full_row = YuvRowOf<Chroma::kFull>;
ConvertPixels* const convert_pixels_row = ConvertRow;
GrayPixels* const gray_pixels_row = GrayRow;
YuvOfPixels* const yuv_of_pixels_row = YuvOfRows;
SplitPairs* const split_pairs_row = Split2;
MergePairs* const merge_pairs_row = Merge2;
ResizeAcross* const resize_across_row = Across;
ResizeDown* const resize_down_row = Down;
BlendRows* const blend_rows_row = Blended;
SumRows* const sum_rows_row = SumOfRows;
SumColumns* const sum_columns_row = SumOfColumns;
MirrorPixels* const mirror_pixels_row = Mirror;
TransposePixels* const transpose_pixels_row = Transpose;
ElementsF32* const elements_f32_row = ToF32;
ElementsF16* const elements_f16_row = ToF16;
ElementsBytes* const elements_bytes_row = ToBytes;
SplitChannels* const split_channels_row = SplitPlanes;

}  // namespace LATHE_ISA
}  // namespace vision
}  // namespace lathe

#endif  // LATHE_VISION_ROWS_UNIT_H_
