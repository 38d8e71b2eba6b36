// The likeliest classes of a classifier.
#ifndef VISION_CLASSES_H_
#define VISION_CLASSES_H_

#include <algorithm>
#include <numeric>
#include <vector>

namespace vision {

// The indices of the `count` largest scores, the largest first.
inline std::vector<int> Best(const float* scores, int classes, int count) {
  std::vector<int> order(classes);
  std::iota(order.begin(), order.end(), 0);
  count = std::min(count, classes);
  std::partial_sort(order.begin(), order.begin() + count, order.end(),
                    [&](int a, int b) { return scores[a] > scores[b]; });
  order.resize(count);
  return order;
}

}  // namespace vision

#endif  // VISION_CLASSES_H_
