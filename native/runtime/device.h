// What stands behind an engine whose model has parts for a device, such as a GPU. The core knows this interface and
// nothing else of it; native/opencl makes one when the first such part is prepared.
#ifndef LATHE_RUNTIME_DEVICE_H_
#define LATHE_RUNTIME_DEVICE_H_

#include "lathe/c_api.h"
#include "native/runtime/kernel.h"
#include "native/runtime/status.h"

namespace lathe {

class Device {
 public:
  virtual void Info(lathe_device_info* info) const = 0;
  // What the application may keep, by LATHE_DEVICE_DATA_*. Valid until the next call.
  virtual Code Data(uint32_t what, const ErrorSink& errors, lathe_bytes* data) = 0;
  // What runs a node of a part, in the place of the name of a kernel; null where the device does not.
  virtual const char* KernelOf(size_t node) const = 0;
  // What was planned for this session goes.
  virtual void EndSession(const void* session) = 0;
  // Memory for the values of a session that the device reads without a copy, until Free; null where there is none.
  virtual void* Allocate(size_t) { return nullptr; }
  virtual void Free(void*) {}
  // The engine ends. The memory of this object is its own business.
  virtual void End() = 0;

 protected:
  ~Device() = default;
};

}  // namespace lathe

#endif  // LATHE_RUNTIME_DEVICE_H_
