// From pixels of a tensor to those of the image that filled it.
#include "native/vision/tensor.h"

namespace lathe {
namespace vision {
namespace {

void Back(const lathe_placement& placement, float* x, float* y) {
  const float* m = placement.matrix;
  const float made_x = m[0] * *x + m[1] * *y + m[2], made_y = m[3] * *x + m[4] * *y + m[5];
  *x = made_x;
  *y = made_y;
}

float Within(float x, int side) {
  const float most = static_cast<float>(side);
  return x > 0 ? (x < most ? x : most) : 0.0f;
}

}  // namespace

void BoxesBack(const lathe_placement* placement, lathe_box* boxes, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    lathe_box& box = boxes[i];
    Back(*placement, &box.left, &box.top);
    Back(*placement, &box.right, &box.bottom);
    const lathe_box made = box;
    // A turn makes another corner the upper left one.
    box.left = Within(made.left < made.right ? made.left : made.right, placement->width);
    box.right = Within(made.left < made.right ? made.right : made.left, placement->width);
    box.top = Within(made.top < made.bottom ? made.top : made.bottom, placement->height);
    box.bottom = Within(made.top < made.bottom ? made.bottom : made.top, placement->height);
  }
}

void PointsBack(const lathe_placement* placement, lathe_point* points, size_t count) {
  for (size_t i = 0; i < count; ++i) Back(*placement, &points[i].x, &points[i].y);
}

}  // namespace vision
}  // namespace lathe
