// Calls the headers of examples/vision, for tests/examples/test_vision.py: `vision resize IN.ppm W H OUT.ppm`, `vision
// checks`.
#include "image.h"

#include <cstdlib>
#include <cstring>

#include "boxes.h"
#include "classes.h"
#include "text.h"

namespace {

#define EXPECT(condition)                                   \
  if (!(condition)) {                                       \
    fprintf(stderr, "line %d: %s\n", __LINE__, #condition); \
    return 1;                                               \
  }

int Resized(char** argv) {
  vision::Image image;
  if (!vision::ReadPpm(argv[2], &image)) return 2;
  const vision::Image small = vision::Resize(image, atoi(argv[3]), atoi(argv[4]));
  FILE* file = fopen(argv[5], "wb");
  fprintf(file, "P6\n%d %d\n255\n", small.width, small.height);
  fwrite(small.pixels.data(), 1, small.pixels.size(), file);
  return fclose(file);
}

int Checked() {
  const vision::Image image{2, 1, {10, 20, 30, 40, 50, 60}};
  float values[6];
  vision::ToTensor(image, {10, 10, /*planes=*/true, /*bgr=*/true}, values);
  EXPECT(values[0] == 2 && values[1] == 5 && values[4] == 0 && values[5] == 3);
  vision::ToTensor(image, {0, 10}, values);
  EXPECT(values[0] == 1 && values[3] == 4 && values[5] == 6);
  float scale = 0;
  const vision::Image boxed = vision::Letterbox(image, 4, 4, &scale);
  EXPECT(scale == 2 && boxed.at(0, 0, 0) == 10 && boxed.at(3, 1, 2) == 60 && boxed.at(0, 2, 0) == 114);
  const vision::Image part = vision::Crop(image, 1, -5, 7, 7);
  EXPECT(part.width == 1 && part.height == 1 && part.at(0, 0, 1) == 50);

  const std::vector<vision::Box> kept = vision::BestBoxes(
      {{0, 0, 10, 10, 0.5f, 0}, {1, 0, 11, 10, 0.9f, 0}, {0, 0, 10, 10, 0.4f, 1}, {20, 20, 30, 30, 0.6f, 0}}, 0.5f);
  EXPECT(kept.size() == 3 && kept[0].score == 0.9f && kept[1].score == 0.6f && kept[2].label == 1);

  const float scores[] = {0.1f, 0.5f, 0.3f, 0.6f};
  EXPECT(vision::Best(scores, 4, 2) == std::vector<int>({3, 1}));
  EXPECT(vision::Best(scores, 4, 9).size() == 4);

  const float map[] = {0, 1, 1, 0, 0,  //
                       0, 1, 1, 0, 1,  //
                       0, 0, 0, 1, 1};
  const std::vector<vision::Box> regions = vision::Regions(map, 5, 3, 0.5f, 2);
  EXPECT(regions.size() == 2 && regions[0].left == 1 && regions[0].right == 3 && regions[0].bottom == 2);
  EXPECT(regions[1].left == 3 && regions[1].top == 1 && regions[1].bottom == 3 && regions[1].score == 1);
  std::vector<vision::Box> lines = {{50, 11, 60, 21, 1, 0}, {0, 40, 9, 50, 1, 0}, {0, 12, 40, 22, 1, 0}};
  vision::SortForReading(&lines);
  EXPECT(lines[0].left == 0 && lines[0].top == 12 && lines[1].left == 50 && lines[2].top == 40);
  EXPECT(vision::Grown({0, 0, 10, 10, 1, 0}, 0.4f).left == -1);

  const float steps[] = {0, 0.9f, 0, 0, 0.8f, 0, 1, 0, 0, 0, 0.7f, 0, 0, 0, 0.6f};  // a a - a b
  const vision::Line line = vision::DecodeCtc(steps, 5, 3, {"a", "b"});
  EXPECT(line.text == "aab" && std::abs(line.score - (0.9f + 0.7f + 0.6f) / 3) < 1e-6f);
  return 0;
}

}  // namespace

int main(int argc, char** argv) { return argc == 6 && strcmp(argv[1], "resize") == 0 ? Resized(argv) : Checked(); }
