// The library `lathe_vision`: all functions in one table.
#include "native/vision/answers.h"
#include "native/vision/image.h"
#include "native/vision/tensor.h"

extern "C" __attribute__((visibility("default"))) const lathe_vision_api* lathe_vision_functions(void) {
  using namespace lathe::vision;
  static constexpr lathe_vision_api table = {
      sizeof(lathe_vision_api),
      Convert,
      Resize,
      Rotate,
      Flip,
      Warp,
      Crop,
      ToTensor,
      BoxesBack,
      PointsBack,
      nullptr,
      nullptr,
      Softmax,
      TopK,
      Nms,
      Yolo,
      Ssd,
      Keypoints,
      CtcGreedy,
      CtcBeam,
      MaskToAlpha,
  };
  return &table;
}
