// Reads digits with the two networks of the library `reader`.
#ifndef READER_H_
#define READER_H_

#include <array>
#include <string>

#include "lathe/engine.h"

using Picture = std::array<float, 64>;  // 8x8, from 0 (black) to 1 (white)

class Reader {
 public:
  // The digit; -1 where a network fails, which `problem` tells about then.
  int Read(const Picture& picture);

  // The picture, twice as bright; empty where a network fails.
  const Picture* Brighten(const Picture& picture);

  const std::string& problem() const { return problem_; }

 private:
  // Fills `out` with the first elements of what the model makes of a picture.
  bool Run(const char* model, const Picture& picture, float* out, int count);

  Picture bright_ = {};
  std::string problem_;
};

#endif  // READER_H_
