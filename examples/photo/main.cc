// Says what a photo shows: reads a PPM file, prints the number and the probability of the five likeliest classes.
#include <algorithm>
#include <cstdio>

#include "classes.h"
#include "image.h"
#include "lathe/photo.h"
#include "model.h"

namespace {

constexpr int kSize = 224, kClasses = 1000, kShown = 5;
constexpr float kPart = 0.875f;  // of the shorter side: the square in the middle that the model sees

vision::Image Middle(const vision::Image& image) {
  const int side = std::max(1, int(kPart * std::min(image.width, image.height)));
  return vision::Resize(vision::Crop(image, (image.width - side) / 2, (image.height - side) / 2, side, side), kSize,
                        kSize);
}

}  // namespace

int main(int argc, char** argv) {
  vision::Image image;
  if (argc != 2 || !vision::ReadPpm(argv[1], &image)) {
    fprintf(stderr, "usage: photo IMAGE.ppm\n");
    return 2;
  }
  vision::Model model(lathe_api_photo(), "photo");
  vision::ToTensor(Middle(image), {127, 128, /*planes=*/true}, model.input());
  model.Run();
  const float* probabilities = model.output();
  for (const int index : vision::Best(probabilities, kClasses, kShown))
    printf("%d %.4f\n", index, probabilities[index]);
  return 0;
}
