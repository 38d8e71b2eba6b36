// Heat maps and masks.
#include <math.h>

#include "native/vision/answers.h"
#include "native/vision/image.h"

namespace lathe {
namespace vision {
namespace {

float Quarter(float before, float after) { return after > before ? 0.25f : (after < before ? -0.25f : 0.0f); }

// The position between the elements of a row of `from` at the centre of pixel `i` of `to`.
struct Between {
  int first;
  int second;
  float weight;
};

Between BetweenOf(int i, int to, int from) {
  const float position = (static_cast<float>(i) + 0.5f) * static_cast<float>(from) / static_cast<float>(to) - 0.5f;
  const float most = static_cast<float>(from - 1);
  const float within = position < 0 ? 0 : (position > most ? most : position);
  const int first = static_cast<int>(within);
  return {first, first + 1 < from ? first + 1 : first, within - static_cast<float>(first)};
}

}  // namespace

lathe_code Keypoints(const float* maps, int32_t width, int32_t height, int32_t channels, uint32_t planes,
                     lathe_point* points, lathe_error* error) {
  const ErrorSink errors = Begin(error);
  if (maps == nullptr || points == nullptr || width < 1 || height < 1 || channels < 1 || width > kMaxSide ||
      height > kMaxSide)
    return Public(
        errors.Fail(Code::kInvalidArgument, "keypoints: %d maps of %dx%d, or a NULL", channels, width, height));
  const size_t step = planes != 0 ? 1 : static_cast<size_t>(channels);
  for (int c = 0; c < channels; ++c) {
    const float* map = maps + static_cast<size_t>(c) * (planes != 0 ? static_cast<size_t>(width) * height : 1);
    const auto at = [&](int x, int y) { return map[(static_cast<size_t>(y) * width + x) * step]; };
    int best_x = 0, best_y = 0;
    for (int y = 0; y < height; ++y) {
      for (int x = 0; x < width; ++x) {
        if (at(x, y) > at(best_x, best_y)) best_x = x, best_y = y;
      }
    }
    lathe_point point = {static_cast<float>(best_x), static_cast<float>(best_y), at(best_x, best_y)};
    if (best_x > 0 && best_x + 1 < width) point.x += Quarter(at(best_x - 1, best_y), at(best_x + 1, best_y));
    if (best_y > 0 && best_y + 1 < height) point.y += Quarter(at(best_x, best_y - 1), at(best_x, best_y + 1));
    points[c] = point;
  }
  return LATHE_OK;
}

lathe_code MaskToAlpha(const float* mask, int32_t width, int32_t height, float low, float high,
                       const lathe_image* image, lathe_error* error) {
  const ErrorSink errors = Begin(error);
  Image to;
  Code code = CheckImage(image, "mask_to_alpha", &to, errors);
  if (code == Code::kOk && to.pixels != LATHE_RGBA && to.pixels != LATHE_BGRA && to.pixels != LATHE_GRAY)
    code = errors.Fail(Code::kInvalidArgument, "mask_to_alpha: images of the format %u have no alpha", to.pixels);
  if (code == Code::kOk && (mask == nullptr || width < 1 || height < 1 || width > kMaxSide || height > kMaxSide))
    code = errors.Fail(Code::kInvalidArgument, "mask_to_alpha: a mask of %dx%d, or NULL", width, height);
  if (code == Code::kOk && !(low < high))
    code = errors.Fail(Code::kInvalidArgument, "mask_to_alpha: low is not below high");
  if (code != Code::kOk) return Public(code);
  const Plane& plane = to.planes[0];
  const float scale = 255.0f / (high - low);
  for (int y = 0; y < to.height; ++y) {
    const Between rows = BetweenOf(y, to.height, height);
    const float* first = mask + static_cast<size_t>(rows.first) * width;
    const float* second = mask + static_cast<size_t>(rows.second) * width;
    uint8_t* alpha = plane.row(y) + plane.pixel - 1;
    for (int x = 0; x < to.width; ++x, alpha += plane.pixel) {
      const Between columns = BetweenOf(x, to.width, width);
      const auto across = [&](const float* row) {
        return row[columns.first] + (row[columns.second] - row[columns.first]) * columns.weight;
      };
      const float above = across(first), value = above + (across(second) - above) * rows.weight;
      const float made = (value - low) * scale + 0.5f;
      *alpha = static_cast<uint8_t>(made > 0 ? (made < 255.0f ? made : 255.0f) : 0.0f);
    }
  }
  return LATHE_OK;
}

}  // namespace vision
}  // namespace lathe
