// Reads 64 numbers from 0 (black) to 16 (white), a picture of 8x8, and says which digit it shows.
#include <cstdio>

#include "reader.h"

int main() {
  Picture picture;
  for (float& pixel : picture) {
    if (std::scanf("%f", &pixel) != 1) {
      std::fprintf(stderr, "64 numbers are wanted\n");
      return 2;
    }
    pixel /= 16;
  }
  Reader reader;
  const int digit = reader.Read(picture);
  if (digit < 0) {
    std::fprintf(stderr, "%s\n", reader.problem().c_str());
    return 1;
  }
  std::printf("%d\n", digit);
  return 0;
}
