// Finds objects: reads a PPM file, prints class, score, left, top, right and bottom of each in pixels.
#include <cstdio>
#include <vector>

#include "boxes.h"
#include "image.h"
#include "lathe/objects.h"
#include "model.h"

namespace {

constexpr int kSize = 96, kCell = 8, kGrid = kSize / kCell, kClasses = 5;
constexpr float kUnit = 16;  // of the distances that the model gives
constexpr float kLeastScore = 0.5f, kMostOverlap = 0.45f;

// One box for each cell of the grid that is certain enough: its middle and the distances to the four sides.
std::vector<vision::Box> Boxes(const float* scores, const float* distances, float scale) {
  std::vector<vision::Box> boxes;
  constexpr int kCells = kGrid * kGrid;
  for (int label = 0; label < kClasses; ++label) {
    for (int cell = 0; cell < kCells; ++cell) {
      const float score = scores[label * kCells + cell];
      if (score < kLeastScore) continue;
      const float x = (cell % kGrid + 0.5f) * kCell, y = (cell / kGrid + 0.5f) * kCell;
      const float* away = distances + cell;
      boxes.push_back({(x - away[0] * kUnit) / scale, (y - away[kCells] * kUnit) / scale,
                       (x + away[2 * kCells] * kUnit) / scale, (y + away[3 * kCells] * kUnit) / scale, score, label});
    }
  }
  return boxes;
}

}  // namespace

int main(int argc, char** argv) {
  vision::Image image;
  if (argc != 2 || !vision::ReadPpm(argv[1], &image)) {
    fprintf(stderr, "usage: objects IMAGE.ppm\n");
    return 2;
  }
  vision::Model model(lathe_api_objects(), "objects");
  float scale = 1;
  vision::ToTensor(vision::Letterbox(image, kSize, kSize, &scale), {0, 255, /*planes=*/true}, model.input());
  model.Run();
  for (const vision::Box& box :
       vision::BestBoxes(Boxes(model.output("scores"), model.output("distances"), scale), kMostOverlap)) {
    printf("%d %.3f %.1f %.1f %.1f %.1f\n", box.label, box.score, box.left, box.top, box.right, box.bottom);
  }
  return 0;
}
