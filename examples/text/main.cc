// Reads the text of an image: one model finds lines, the other one reads each of them.
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include "image.h"
#include "lathe/text.h"
#include "model.h"
#include "text.h"

namespace {

constexpr int kSize = 640;                         // of the image in which lines are found
constexpr int kLineHeight = 48, kMostWidth = 480;  // of a line that is read
constexpr float kThreshold = 0.3f, kLeastScore = 0.5f, kGrowth = 1.6f;
constexpr vision::Normalization kNormalization{127.5f, 127.5f, /*planes=*/true, /*bgr=*/true};

std::vector<vision::Box> FindLines(const vision::Image& image) {
  vision::Model model(lathe_api_text(), "detection");
  float scale = 1;
  vision::ToTensor(vision::Letterbox(image, kSize, kSize, &scale), kNormalization, model.input());
  model.Run();
  std::vector<vision::Box> lines;
  for (const vision::Box& found : vision::Regions(model.output(), kSize, kSize, kThreshold, 3)) {
    if (found.score < kLeastScore) continue;
    const vision::Box box = vision::Grown(found, kGrowth);
    lines.push_back({std::max(box.left / scale, 0.0f), std::max(box.top / scale, 0.0f),
                     std::min(box.right / scale, float(image.width)), std::min(box.bottom / scale, float(image.height)),
                     box.score, 0});
  }
  vision::SortForReading(&lines);
  return lines;
}

// The part of the image in a box, as high as the reader wants it; the rest of the width is zero.
void FillLine(const vision::Image& image, const vision::Box& box, float* input) {
  const vision::Image part = vision::Crop(image, int(box.left), int(box.top), int(std::ceil(box.right - box.left)),
                                          int(std::ceil(box.bottom - box.top)));
  const int width = std::min(kMostWidth, std::max(8, int(std::lround(float(part.width) * kLineHeight / part.height))));
  std::vector<float> values(size_t(3) * kLineHeight * width);
  vision::ToTensor(vision::Resize(part, width, kLineHeight), kNormalization, values.data());
  for (int row = 0; row < 3 * kLineHeight; ++row) {
    float* out = input + size_t(row) * kMostWidth;
    std::fill(std::copy_n(values.data() + size_t(row) * width, width, out), out + kMostWidth, 0.0f);
  }
}

}  // namespace

// Prints a line for each one found: left, top, right, bottom, score, text.
int main(int argc, char** argv) {
  vision::Image image;
  if (argc != 3 || !vision::ReadPpm(argv[1], &image)) {
    fprintf(stderr, "usage: text IMAGE.ppm CHARACTERS.txt\n");
    return 2;
  }
  const std::vector<std::string> characters = vision::ReadLines(argv[2]);
  vision::Model reader(lathe_api_text(), "recognition");
  const lathe::Dims shape = reader.output_shape();
  for (const vision::Box& box : FindLines(image)) {
    FillLine(image, box, reader.input());
    reader.Run();
    const vision::Line line = vision::DecodeCtc(reader.output(), int(shape[1]), int(shape[2]), characters);
    if (line.text.empty()) continue;
    printf("%.0f %.0f %.0f %.0f %.3f %s\n", box.left, box.top, box.right, box.bottom, line.score, line.text.c_str());
  }
  return 0;
}
