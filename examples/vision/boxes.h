// Boxes that a detector has found.
#ifndef VISION_BOXES_H_
#define VISION_BOXES_H_

#include <algorithm>
#include <vector>

namespace vision {

struct Box {
  float left, top, right, bottom;
  float score;
  int label;
  int source = 0;  // the number of the output that it comes from, for what else belongs to it
};

// The area that two boxes share, divided by the area that they cover together.
inline float Overlap(const Box& a, const Box& b) {
  const float width = std::min(a.right, b.right) - std::max(a.left, b.left);
  const float height = std::min(a.bottom, b.bottom) - std::max(a.top, b.top);
  if (width <= 0 || height <= 0) return 0;
  const float shared = width * height;
  return shared / ((a.right - a.left) * (a.bottom - a.top) + (b.right - b.left) * (b.bottom - b.top) - shared);
}

// Non-maximum suppression: of boxes with the same label that overlap by more than `most`, the best one. Best first.
inline std::vector<Box> BestBoxes(std::vector<Box> boxes, float most) {
  std::stable_sort(boxes.begin(), boxes.end(), [](const Box& a, const Box& b) { return a.score > b.score; });
  std::vector<Box> kept;
  for (const Box& box : boxes) {
    const bool repeated = std::any_of(kept.begin(), kept.end(), [&](const Box& other) {
      return other.label == box.label && Overlap(box, other) > most;
    });
    if (!repeated) kept.push_back(box);
  }
  return kept;
}

}  // namespace vision

#endif  // VISION_BOXES_H_
