// Separates a person from the background: reads a PPM file, writes a mask of the same size as a PGM file.
#include <cstdio>

#include "image.h"
#include "lathe/person.h"
#include "model.h"

namespace {

constexpr int kSize = 256;  // of the image that the model sees

}  // namespace

int main(int argc, char** argv) {
  vision::Image image;
  if (argc != 3 || !vision::ReadPpm(argv[1], &image)) {
    fprintf(stderr, "usage: person IMAGE.ppm MASK.pgm\n");
    return 2;
  }
  vision::Model model(lathe_api_person(), "person");
  vision::ToTensor(vision::Resize(image, kSize, kSize), {0, 255}, model.input());
  model.Run();
  const float* mask = model.output();
  int inside = 0;
  for (int i = 0; i < kSize * kSize; ++i) inside += mask[i] > 0.5f;
  if (!vision::WritePgm(argv[2], mask, kSize, kSize)) {
    fprintf(stderr, "%s cannot be written\n", argv[2]);
    return 1;
  }
  printf("%.3f\n", double(inside) / (kSize * kSize));
  return 0;
}
