// What units whose kernels fold series of pixels share: series.cl.
#ifndef LATHE_OPENCL_SERIES_H_
#define LATHE_OPENCL_SERIES_H_

#include "native/opencl/node.h"
#include "native/opencl/unit.h"

namespace lathe {
namespace opencl {

// Begins a launch with how many work items share one of columns * rows series, each of so many pixels.
class SeriesLaunch {
 public:
  SeriesLaunch(Node& node, const char* function, int64_t columns, int64_t rows, int64_t pixels, bool lanes);

  Launch& launch() { return launch_; }
  Code Enqueue() { return launch_.Enqueue(columns_ * group_, rows_); }

 private:
  Launch launch_;
  int64_t columns_, rows_;
  int32_t group_;
};

}  // namespace opencl
}  // namespace lathe

#endif  // LATHE_OPENCL_SERIES_H_
