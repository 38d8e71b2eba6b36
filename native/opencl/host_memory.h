// Buffers over memory of the host. A device that shares it works right there, and nothing is copied.
#ifndef LATHE_OPENCL_HOST_MEMORY_H_
#define LATHE_OPENCL_HOST_MEMORY_H_

#include "native/opencl/device.h"

namespace lathe {
namespace opencl {

class HostMemory {
 public:
  // `api` has to outlive this.
  void Open(const ClApi& api, const Device& device, cl_context context);

  // Null where the driver would copy, or does not make one: then the caller copies. `writes`: kernels write to it.
  cl_mem Lend(void* host, size_t bytes, bool writes) const;

  // Buffers of cl_arm_import_memory are not to be mapped, as the driver itself sees to it that both sides see what the
  // other one wrote. They hold on to the pages that were at this address when they were made.
  bool imports() const { return import_ != nullptr; }

 private:
  const ClApi* api_ = nullptr;
  cl_context context_ = nullptr;
  ClImportMemoryArm import_ = nullptr;
  size_t alignment_ = 0;  // 0: no memory of the host is lent
};

}  // namespace opencl
}  // namespace lathe

#endif  // LATHE_OPENCL_HOST_MEMORY_H_
