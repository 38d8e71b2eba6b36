// Regions of pictures, as roi_align and max_roi_pool take them.
#ifndef LATHE_KERNEL_SPATIAL_PICTURE_REGIONS_H_
#define LATHE_KERNEL_SPATIAL_PICTURE_REGIONS_H_

#include "native/kernel/check.h"
#include "native/runtime/kernel.h"

namespace lathe {
namespace {

// x[N,H,W,C] and regions[R,numbers] give [R,OH,OW,C].
inline Code CheckRegions(const PlanContext& context, int64_t numbers, const int64_t (&size)[2]) {
  const Shape& in = context.input(0).shape;
  const Shape& regions = context.input(1).shape;
  for (int axis = 0; axis < 3; ++axis) {
    if (in[axis] < 1) return context.Fail(Code::kBadModel, "its input is empty");
    if (in[axis] > kMaxExtent) return context.Fail(Code::kUnsupported, "a picture is too large");
  }
  if (regions[1] != numbers) return context.Fail(Code::kBadModel, "a region has the wrong number of numbers");
  return CheckShape(context, 0, {4, {regions[0], size[0], size[1], in[3]}});
}

// A number that may be anything, between two that are not.
inline float Between(float x, float low, float high) { return x > low ? (x < high ? x : high) : low; }

}  // namespace
}  // namespace lathe

#endif  // LATHE_KERNEL_SPATIAL_PICTURE_REGIONS_H_
