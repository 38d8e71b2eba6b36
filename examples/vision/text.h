// From the outputs of text detectors and recognisers to boxes and characters.
#ifndef VISION_TEXT_H_
#define VISION_TEXT_H_

#include <algorithm>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "boxes.h"

namespace vision {

// The connected parts of a map above `threshold`, as boxes, best first; `score`: the mean of a part. Parts of less than
// `least` pixels on a side are left out.
inline std::vector<Box> Regions(const float* map, int width, int height, float threshold, int least) {
  std::vector<char> seen(size_t(width) * height, 0);
  std::vector<std::pair<int, int>> open;
  std::vector<Box> boxes;
  for (int start = 0; start < width * height; ++start) {
    if (seen[start] || map[start] <= threshold) continue;
    int left = width, top = height, right = 0, bottom = 0, count = 0;
    double sum = 0;
    seen[start] = 1;
    open.assign(1, {start % width, start / width});
    while (!open.empty()) {
      const auto [x, y] = open.back();
      open.pop_back();
      left = std::min(left, x), right = std::max(right, x + 1);
      top = std::min(top, y), bottom = std::max(bottom, y + 1);
      sum += map[y * width + x], ++count;
      const std::pair<int, int> next[] = {{x - 1, y}, {x + 1, y}, {x, y - 1}, {x, y + 1}};
      for (const auto& [nx, ny] : next) {
        if (nx < 0 || ny < 0 || nx >= width || ny >= height) continue;
        const int index = ny * width + nx;
        if (seen[index] || map[index] <= threshold) continue;
        seen[index] = 1;
        open.emplace_back(nx, ny);
      }
    }
    if (right - left < least || bottom - top < least) continue;
    boxes.push_back({float(left), float(top), float(right), float(bottom), float(sum / count), 0});
  }
  return boxes;
}

// A detector marks the kernel of each line: grows it by area * ratio / perimeter on each side.
inline Box Grown(Box box, float ratio) {
  const float width = box.right - box.left, height = box.bottom - box.top;
  const float by = width * height * ratio / (2 * (width + height));
  return {box.left - by, box.top - by, box.right + by, box.bottom + by, box.score, box.label};
}

// From top to bottom; boxes of one line, which overlap vertically by half, from left to right.
inline void SortForReading(std::vector<Box>* boxes) {
  std::sort(boxes->begin(), boxes->end(), [](const Box& a, const Box& b) { return a.top < b.top; });
  for (size_t first = 0; first < boxes->size();) {
    size_t last = first + 1;
    const float middle = ((*boxes)[first].top + (*boxes)[first].bottom) / 2;
    while (last < boxes->size() && (*boxes)[last].top < middle) ++last;
    std::sort(boxes->begin() + first, boxes->begin() + last,
              [](const Box& a, const Box& b) { return a.left < b.left; });
    first = last;
  }
}

struct Line {
  std::string text;
  float score = 0;  // the mean of its characters
};

// Connectionist temporal classification, greedily: the best class of each step; repetitions count once, class 0 is
// none.
inline Line DecodeCtc(const float* scores, int steps, int classes, const std::vector<std::string>& characters) {
  Line line;
  int count = 0, before = 0;
  for (int step = 0; step < steps; ++step, scores += classes) {
    const int best = int(std::max_element(scores, scores + classes) - scores);
    if (best != 0 && best != before && size_t(best) <= characters.size()) {
      line.text += characters[best - 1];
      line.score += scores[best];
      ++count;
    }
    before = best;
  }
  if (count != 0) line.score /= count;
  return line;
}

inline std::vector<std::string> ReadLines(const std::string& path) {
  std::vector<std::string> lines;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  return lines;
}

}  // namespace vision

#endif  // VISION_TEXT_H_
