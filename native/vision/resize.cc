#include "native/vision/sampler.h"

namespace lathe {
namespace vision {
namespace {

void ResizePlane(const Plane& from, const Plane& to, const Filter& filter) {
  Sampler sampler;
  sampler.set = BestRows();
  sampler.plane = from;
  sampler.channels = from.pixel;
  sampler.x = {0, from.width, to.width, 1, 0, from.width - 1};
  sampler.y = {0, from.height, to.height, 1, 0, from.height - 1};
  for (int first = 0; first < to.width; first += kTile) {
    sampler.first = first;
    sampler.count = to.width - first < kTile ? to.width - first : kTile;
    filter.start(&sampler);
    const size_t bytes = static_cast<size_t>(sampler.count) * to.pixel;
    for (int y = 0; y < to.height; ++y) {
      uint8_t* target = to.row(y) + static_cast<size_t>(first) * to.pixel;
      const uint8_t* made = filter.row(&sampler, y, target);
      if (made != target) memcpy(target, made, bytes);
    }
  }
}

}  // namespace

lathe_code Resize(const lathe_image* source, const lathe_image* target, uint32_t filter, lathe_error* error) {
  const ErrorSink errors = Begin(error);
  Image from, to;
  Code code = CheckImage(source, "resize: source", &from, errors);
  if (code == Code::kOk) code = CheckImage(target, "resize: target", &to, errors);
  if (code == Code::kOk) code = CheckSameFormat(from, to, errors);
  if (code == Code::kOk) code = CheckApart(from, to, errors);
  if (code != Code::kOk) return Public(code);
  const Filter* how = FilterOf(filter, errors);
  if (how == nullptr) return LATHE_INVALID_ARGUMENT;
  for (int i = 0; i < from.plane_count; ++i) ResizePlane(from.planes[i], to.planes[i], *how);
  return LATHE_OK;
}

}  // namespace vision
}  // namespace lathe
