// Rows of a plane that is resized, tile by tile.
#ifndef LATHE_VISION_SAMPLER_H_
#define LATHE_VISION_SAMPLER_H_

#include "native/vision/image.h"

namespace lathe {
namespace vision {

// One side of a resize: `size` pixels of an image from `origin` on become `out`. A plane has one element for `share`
// pixels, of which those from `low` to `high` may be read.
struct Axis {
  int origin;
  int size;
  int out;
  int share;
  int low;
  int high;

  LATHE_INLINE bool keeps() const { return size == out && share == 1; }
};

struct Sampler {
  Plane plane;
  int channels;  // bytes of a pixel that are read: less than plane.pixel for those of YUYV
  Axis x;
  Axis y;
  int set;    // of the rows
  int first;  // column of the tile
  int count;
  size_t step;
  size_t safe;
  int32_t offsets[kTile];
  int16_t weights[kTile];
  // LATHE_AREA: the first and the last element that a column covers, and the shares of both, and of those in between.
  int32_t lows[kTile];
  int32_t highs[kTile];
  float shares[3][kTile];
  int16_t rows[2][kTile * 4];
  int row_numbers[2];
};

// A way to resize. Libraries hold those that they name.
struct Filter {
  // For the columns from sampler->first on.
  void (*start)(Sampler* sampler);
  // The row `y` of the result: in `buffer`, or where it is in the plane.
  const uint8_t* (*row)(Sampler* sampler, int y, uint8_t* buffer);
};

extern const Filter nearest_filter;
extern const Filter bilinear_filter;
extern const Filter area_filter;

// Null, with a message, for a number that is none.
const Filter* FilterOf(uint32_t filter, const ErrorSink& errors);

}  // namespace vision
}  // namespace lathe

#endif  // LATHE_VISION_SAMPLER_H_
