// Rows of a depthwise convolution with a window of 3 x 3 on ARM: cut into strips, which assembler computes.
#ifndef LATHE_KERNEL_DEPTHWISE_DEPTHWISE_STRIPS_H_
#define LATHE_KERNEL_DEPTHWISE_DEPTHWISE_STRIPS_H_

#include <math.h>

#include "native/kernel/depthwise/depthwise.h"
#include "native/kernel/simd/simd.h"
#if defined(__aarch64__)
#include "native/kernel/depthwise/depthwise_aarch64.h"
#else
#include "native/kernel/depthwise/depthwise_armv7.h"
#endif

namespace lathe {
namespace {

static_assert(kDwChannels == kDwVectors * kLanes, "a strip has these channels");

// One output of one line, whose window may lie anywhere; `column` is that of its first tap.
inline void RunDwPixel(const DwRows& job, const Element* const* inputs, ptrdiff_t column, ptrdiff_t channel,
                       Element* to) {
  for (ptrdiff_t last = channel + kDwChannels; channel < last; channel += kLanes, to += kLanes) {
    Vec sum = job.bias != nullptr ? Load(job.bias + channel) : Fill(0.0f);
    for (ptrdiff_t tap = 0; tap < 9; ++tap) {
      const ptrdiff_t x = column + tap % 3;
      if (x < 0 || x >= job.width) continue;
      const Element* from = inputs[tap / 3] + x * job.channels;
      sum = MulAdd(Load(from + channel), Load(job.filter + tap * job.channels + channel), sum);
    }
    Store(to, AtLeast(AtMost(sum, Fill(job.high)), Fill(job.low)));
  }
}

// Columns [begin, end) of the output and channels [first, last) of them, at least kDwChannels.
template <int stride>
__attribute__((noinline)) void RunDwStrips(const DwRows& job, ptrdiff_t begin, ptrdiff_t end, ptrdiff_t first,
                                           ptrdiff_t last) {
  const ptrdiff_t channels = job.channels;
  // Outputs [left, right) have the middle of their window in the image.
  ptrdiff_t left = begin, right = end;
  while (left < end && left * stride - job.before + 1 < 0) ++left;
  while (right > left && (right - 1) * stride - job.before + 1 >= job.width) --right;
  const ptrdiff_t column = left * stride - job.before;
  const Element none[kDwChannels] = {};
  DwStrip strip = {};
  strip.filter_bytes = strip.pixel_bytes = static_cast<size_t>(channels) * sizeof(Element);
  strip.output_bytes = static_cast<size_t>(job.output_pixel) * sizeof(Element);
  strip.line_bytes = static_cast<size_t>(job.output_row) * sizeof(Element);
  strip.before = column >= 0;
  strip.after = right > left && (right - 1) * stride - job.before + 2 >= job.width;
  strip.steps = static_cast<size_t>(right - left) - strip.after;
  strip.clip = job.high < HUGE_VALF ? 2 : job.low > -HUGE_VALF;
  strip.low = static_cast<Element>(job.low);
  strip.high = static_cast<Element>(job.high);
  for (ptrdiff_t channel = first; channel < last; channel += kDwChannels) {
    if (channel > last - kDwChannels) channel = last - kDwChannels;  // overlaps the one before
    Element* const output = job.output + channel;
    strip.inputs = job.inputs;
    strip.lines = static_cast<size_t>(job.lines);
    strip.filter = job.filter + channel;
    strip.bias = job.bias != nullptr ? job.bias + channel : none;
    strip.output = output + (left - begin) * job.output_pixel;
    strip.start_bytes = static_cast<size_t>((column + !strip.before) * channels + channel) * sizeof(Element);
    if (right > left) RunDwStrip<stride>(strip);
    for (ptrdiff_t x = begin; x < end; ++x) {
      if (x == left) x = right;
      for (ptrdiff_t line = 0; x < end && line < job.lines; ++line) {
        RunDwPixel(job, job.inputs + line * stride, x * stride - job.before, channel,
                   output + line * job.output_row + (x - begin) * job.output_pixel);
      }
    }
  }
}

}  // namespace
}  // namespace lathe

#endif  // LATHE_KERNEL_DEPTHWISE_DEPTHWISE_STRIPS_H_
