// Products of rows of s8 with packed filters of 8 bits, requantised: the heart of quantised convolutions and matrix
// products. What stands for a filter w is the byte w + 128, packed as
//
//   [group][panel of 16 outputs][tap][depth / 4, rounded up][16 outputs][4 of depth]
//
// and zero where the depth ends, so that what is read behind it does not count. Sums are exact, and rounding is the
// same for all instruction sets:
//
//   sum    = sum over the taps and depth of (w + 128) * x
//   y      = clip(single(sum - 128 * (sum of x) + start) * factor + residual), rounded half to even, + zero point
//
// where `start` is the bias less what the zero point of x adds to the sum. Pixels outside of the image are rows of the
// zero point.
#ifndef LATHE_CORE_BYTE_STATE_H_
#define LATHE_CORE_BYTE_STATE_H_

#include "native/core/kernel.h"
#include "native/core/stored.h"

namespace lathe {

constexpr int kBytePanel = 16;      // outputs of a panel
constexpr int kByteDepth = 4;       // of depth side by side
constexpr int kBytePixels = 48;     // of a chunk: the unit of parallel work, a multiple of every tile
constexpr int kFilterOffset = 128;  // added to the filters

struct BytePanelShape {
  int64_t groups;
  int64_t outputs;  // per group
  int64_t taps;
  int64_t depth;

  LATHE_INLINE int64_t panels() const { return (outputs + kBytePanel - 1) / kBytePanel; }
  LATHE_INLINE int64_t steps() const { return (depth + kByteDepth - 1) / kByteDepth; }
  LATHE_INLINE int64_t panel_bytes() const { return taps * steps() * kByteDepth * kBytePanel; }
  LATHE_INLINE int64_t bytes() const { return groups * panels() * panel_bytes(); }
};

// Filters [groups * outputs, taps, depth] in the packed order. Fills every byte.
void PackBytePanels(const BytePanelShape& shape, const int8_t* from, uint8_t* to);

// What a kernel knows when its engine is made.
struct BytePanelState {
  BytePanelShape shape;
  const uint8_t* packed;
  const int32_t* starts;  // of all outputs, filled up with zeros to whole panels
  const float* factors;
  float residual_factor;
  int32_t residual_zero;
  int32_t x_zero;
  int32_t y_zero;
  float low;  // in steps of y, zero point not added
  float high;
};

// Inputs are x, filters, a bias of s32 and a residual; all but the last are constant or stored with one scale.
Code PrepareBytePanels(PrepareContext& context, BytePanelState* state);

}  // namespace lathe

#endif  // LATHE_CORE_BYTE_STATE_H_
