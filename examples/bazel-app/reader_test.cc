#include "reader.h"

#include <algorithm>
#include <cstdio>

namespace {

constexpr int kEight[64] = {
    0, 0, 7,  15, 16, 8,  0, 0,  //
    0, 0, 16, 7,  6,  15, 3, 0,  //
    0, 4, 16, 0,  7,  13, 4, 0,  //
    0, 0, 16, 2,  8,  14, 8, 0,  //
    0, 0, 12, 14, 14, 7,  0, 0,  //
    0, 0, 9,  16, 6,  0,  0, 0,  //
    0, 0, 11, 3,  14, 2,  0, 0,  //
    0, 0, 5,  11, 10, 10, 0, 0,  //
};

int failures = 0;

void Check(bool right, const char* what, const Reader& reader) {
  if (right) return;
  std::fprintf(stderr, "wrong: %s (%s)\n", what, reader.problem().c_str());
  ++failures;
}

}  // namespace

int main() {
  Picture picture;
  for (size_t i = 0; i < picture.size(); ++i) picture[i] = kEight[i] / 16.0f;
  Reader reader;
  Check(reader.Read(picture) == 8, "the digit is an eight", reader);

  const Picture* bright = reader.Brighten(picture);
  Check(bright != nullptr, "the picture becomes brighter", reader);
  for (size_t i = 0; bright != nullptr && i < picture.size(); ++i) {
    Check((*bright)[i] == std::min(2 * picture[i], 1.0f), "a pixel is twice as bright", reader);
  }
  if (failures == 0) std::printf("all is well\n");
  return failures == 0 ? 0 : 1;
}
