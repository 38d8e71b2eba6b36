// Finds faces: reads a PPM file, prints score, box and six points (eyes, nose, mouth, ears) of each in pixels.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <vector>

#include "boxes.h"
#include "image.h"
#include "lathe/faces.h"
#include "model.h"

namespace {

constexpr int kSize = 128;                      // of the image that the model sees
constexpr int kGrids[][2] = {{16, 2}, {8, 6}};  // cells along a side, boxes for each cell
constexpr int kValues = 16;                     // of a box: middle, size, six points
constexpr float kLeastScore = 0.6f, kMostOverlap = 0.3f;

struct Anchor {
  float x, y;  // in pixels of the image that the model sees
};

std::vector<Anchor> Anchors() {
  std::vector<Anchor> anchors;
  for (const auto& [cells, boxes] : kGrids) {
    const float size = float(kSize) / cells;
    for (int cell = 0; cell < cells * cells; ++cell) {
      anchors.insert(anchors.end(), boxes, {(cell % cells + 0.5f) * size, (cell / cells + 0.5f) * size});
    }
  }
  return anchors;
}

}  // namespace

int main(int argc, char** argv) {
  vision::Image image;
  if (argc != 2 || !vision::ReadPpm(argv[1], &image)) {
    fprintf(stderr, "usage: faces IMAGE.ppm\n");
    return 2;
  }
  vision::Model model(lathe_api_faces(), "faces");
  float scale = 1;
  vision::ToTensor(vision::Letterbox(image, kSize, kSize, &scale, 0), {127.5f, 127.5f}, model.input());
  model.Run();

  const float *values = model.output("regressors"), *logits = model.output("classificators");
  const std::vector<Anchor> anchors = Anchors();
  std::vector<vision::Box> boxes;
  for (size_t i = 0; i < anchors.size(); ++i) {
    const float score = 1 / (1 + std::exp(-logits[i]));
    if (score < kLeastScore) continue;
    const float* box = values + i * kValues;
    const float x = anchors[i].x + box[0], y = anchors[i].y + box[1];
    boxes.push_back({x - box[2] / 2, y - box[3] / 2, x + box[2] / 2, y + box[3] / 2, score, 0, int(i)});
  }
  for (const vision::Box& box : vision::BestBoxes(boxes, kMostOverlap)) {
    printf("%.3f %.1f %.1f %.1f %.1f", box.score, box.left / scale, box.top / scale, box.right / scale,
           box.bottom / scale);
    for (int point = 0; point < 6; ++point) {
      const float* place = values + box.source * kValues + 4 + 2 * point;
      printf(" %.1f %.1f", (anchors[box.source].x + place[0]) / scale, (anchors[box.source].y + place[1]) / scale);
    }
    printf("\n");
  }
  return 0;
}
