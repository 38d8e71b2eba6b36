#include "native/opencl/border.h"

namespace lathe {
namespace opencl {

Code EnqueueBorder(Node& node, const char* function, DeviceTensor& x, DeviceTensor& y, const View& size) {
  Launch launch(node, function);
  launch.In(x).Out(y).Int(size.w).Int(size.c);
  return launch.Enqueue(size.width(), size.height());
}

}  // namespace opencl
}  // namespace lathe
