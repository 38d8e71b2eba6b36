// Copies between the host and the device, or none: where the device works in the host's memory itself.
#ifndef LATHE_OPENCL_TRANSFER_H_
#define LATHE_OPENCL_TRANSFER_H_

#include "native/opencl/tensors.h"

namespace lathe {
namespace opencl {

// What a transfer is bound to, as the last run found it.
struct HostBinding {
  void* host;         // null: none yet
  uint32_t bindings;  // Session::bindings of then
  cl_mem copied;      // memory that both see, and that is copied through
  cl_mem lent;        // a buffer over `host`, in its place; null: it is copied
  void* mapped;
  bool settled;  // whether it is lent
};

// Brings a value from the host to the device, or back.
struct Transfer {
  Transfer* next;
  uint32_t value;  // of the model: where it is on the host
  DType dtype;
  int64_t count;
  bool to_host;
  size_t node;  // of the part, from 0: the border that it is for
  DeviceTensor* staging;
  int64_t start_ns;
  int64_t end_ns;
  HostBinding bound;

  size_t bytes() const { return static_cast<size_t>(count) * 4; }  // on the device
};

}  // namespace opencl
}  // namespace lathe

#endif  // LATHE_OPENCL_TRANSFER_H_
