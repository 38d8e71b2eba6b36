// Which device of a machine is used, what it can do, and a context and a queue on it.
//
// A GPU goes before an accelerator, that before a CPU; of one kind the first is taken, in the order in which OpenCL
// lists platforms and devices. $LATHE_OPENCL_DEVICE chooses another: a part of its name, or "<platform>:<device>", both
// counted from 0. Devices without OpenCL 1.2, or that are not available, are never taken.
#ifndef LATHE_OPENCL_DEVICE_H_
#define LATHE_OPENCL_DEVICE_H_

#include "native/opencl/cl.h"
#include "native/opencl/loader.h"
#include "native/runtime/kernel.h"

namespace lathe::opencl {

// Whose device it is, where kernels differ by that.
enum class Maker : uint8_t { kOther, kAdreno, kMali, kPowerVr, kNvidia, kAmd, kIntel };

struct DeviceFacts {
  // Texts are cut to fit and always end with a 0.
  char name[96];
  char vendor[64];
  char driver_version[96];
  char version[128];    // "OpenCL 3.0 <what the vendor says>"
  char platform[64];    // its name
  cl_int major, minor;  // of `version`
  cl_device_type type;  // one bit
  Maker maker;

  uint64_t memory;          // bytes
  uint64_t max_allocation;  // bytes of one buffer
  uint64_t cache;           // bytes of the cache of global memory; 0: none
  uint64_t local_memory;    // bytes per work-group; 0: it is a piece of global memory, so nothing is won by it
  cl_uint compute_units;
  cl_uint clock;  // MHz
  size_t max_group;
  size_t max_items[3];
  cl_uint base_alignment;  // bytes: where a sub-buffer may begin

  bool images;               // two-dimensional ones
  size_t max_width;          // of an image
  size_t max_height;         // the same
  size_t max_buffer_image;   // pixels of an image that is a line of a buffer
  cl_uint pitch_alignment;   // pixels from row to row of an image in a buffer; 0: cl_khr_image2d_from_buffer is missing
  cl_uint origin_alignment;  // pixels: where in a buffer an image may begin

  bool compiler;  // builds programs from source
  bool half;      // cl_khr_fp16
  bool unified_memory;
  bool image_in_buffer;     // cl_khr_image2d_from_buffer
  bool subgroups;           // cl_khr_subgroups, or cl_intel_subgroups
  bool queue_priority;      // cl_khr_priority_hints
  bool context_perf_hint;   // cl_qcom_perf_hint
  bool context_priority;    // cl_qcom_priority_hint
  bool import_host_memory;  // cl_arm_import_memory and its part for memory of the host
};

struct Device {
  cl_platform_id platform;
  cl_device_id id;
  int platform_index, index;  // "<platform>:<device>"
  DeviceFacts facts;
};

struct DeviceWish {
  const char* name = nullptr;  // what $LATHE_OPENCL_DEVICE may say; null: what it says
};

// kUnsupported, with the reason, where there is no such device.
Code ChooseDevice(const ClApi& api, const DeviceWish& wish, Device* device, Reason* reason);

enum class Level : uint8_t { kDefault, kLow, kNormal, kHigh };

struct ContextWish {
  Level performance = Level::kDefault;  // how fast the clock of the device shall run
  Level priority = Level::kDefault;     // of our work before that of others: the screen, for one
  bool profiling = false;               // the times of every command
};

// Wishes that a device does not understand are left out. What was made is for the caller to release.
Code MakeContext(const ClApi& api, const Device& device, const ContextWish& wish, cl_context* context, Reason* reason);
// One that works in order.
Code MakeQueue(const ClApi& api, const Device& device, const ContextWish& wish, cl_context context,
               cl_command_queue* queue, Reason* reason);

}  // namespace lathe::opencl

#endif  // LATHE_OPENCL_DEVICE_H_
