// Products of rows of s8 with packed filters of 8 bits, requantised: the heart of quantised convolutions and matrix
// products. Filters are packed as
//
//   [group][panel of 16 outputs][tap][depth / 4, rounded up][16 outputs][4 of depth]
//
// and zero where the depth ends, so that what is read behind it does not count. Sums are exact, and rounding is the
// same for all instruction sets:
//
//   sum    = sum over the taps and depth of w * x
//   y      = clip(single(sum + start) * factor + residual), rounded half to even, + zero point
//
// where `start` is the bias less what the zero point of x adds to the sum. Pixels outside of the image are rows of the
// zero point.
#ifndef LATHE_KERNEL_GEMM_BYTE_STATE_H_
#define LATHE_KERNEL_GEMM_BYTE_STATE_H_

#include "native/kernel/gemm/job_items.h"
#include "native/kernel/quantised/quantised_tensors.h"
#include "native/runtime/kernel.h"

namespace lathe {

constexpr int kBytePanel = 16;  // outputs of a panel
constexpr int kByteDepth = 4;   // of depth side by side
constexpr int kPairHead = 3;    // vectors for a pair: starts, shifts, mantissas

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

// How the products of an instruction set want their operands. byte_form.h has the one of a kernel.
struct ByteForm {
  // Filters are brought into another order: [16 outputs][8 of depth], zero where the depth ends.
  bool eights;
  // What is added to x where instructions multiply signed by unsigned numbers: starts take it off again.
  int32_t offset;
  // Numbers of x are inverted, bit by bit, where they meet a filter below 0, which then counts without its sign: starts
  // add what -1 - x lacks.
  bool inverts;
  // Two panels of a group stand side by side, [32 outputs][4 of depth], and filters have no sign: 128 is added to them.
  // kPairHead vectors for each pair are in front of those of a group.
  bool pairs = false;

  LATHE_INLINE constexpr int reach() const { return eights ? 8 : kByteDepth; }  // rows are read in whole steps of it
};

// What a kernel knows when its engine is made.
struct BytePanelState {
  BytePanelShape shape;
  const int8_t* packed;
  int64_t panel_bytes;    // from panel to panel, or from pair to pair
  const int32_t* starts;  // of all outputs, and zeros behind them for two panels
  const float* factors;
  float residual_factor;
  int32_t residual_zero;
  int32_t x_zero;
  int32_t y_zero;
  float low;  // in steps of y, zero point not added
  float high;
  bool lowest;  // a filter may be -128
  // Of pairs:
  bool small_sums;  // no sum loses digits by its shift, whatever the pixels are
  bool whole_sums;  // single precision has all of them whole
};

// All but the filters: inputs are x, filters, a bias of s32 and a residual; all but the last are constant or stored
// with one scale. `state->shape` is that of the filters as they come. `starts` are the bias or zeros, from which is to
// be taken what the zero point of x adds.
Code PrepareByteResults(PrepareContext& context, BytePanelState* state, int32_t** starts);

// The filters alone, for sums of products: starts are what the form adds, and the sum of the filters of each output
// goes to `sums`. `joined`: so many taps become one, in the order of the filters.
Code PrepareByteSums(PrepareContext& context, const ByteForm& form, int64_t joined, BytePanelState* state,
                     const int32_t** sums);

// Filters and results. `joined`: as above.
Code PrepareBytePanels(PrepareContext& context, const ByteForm& form, int64_t joined, BytePanelState* state);

}  // namespace lathe

#endif  // LATHE_KERNEL_GEMM_BYTE_STATE_H_
