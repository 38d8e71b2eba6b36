// What an application says of a GPU or a DSP, as an engine of a library takes it.
#ifndef MACE_FACE_GPU_H_
#define MACE_FACE_GPU_H_

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "lathe/c_api.h"
#include "mace/face/interface.h"

namespace mace {

class GPUContext {
 public:
  std::string storage_path;
  std::vector<std::string> binary_paths;
  std::string parameter_path;
  lathe_bytes binary = {};
  lathe_bytes parameter = {};
};

namespace face {

struct DeviceWishes {
  std::shared_ptr<GPUContext> context;
  GPUPerfHint perf_hint;
  GPUPriorityHint priority_hint;
  uint32_t dsp_flags;
  uint32_t dsp_power;
  uint32_t dsp_latency;
};

// What points to them is in `paths`, which has to live as long as the result is used.
inline lathe_device_options DeviceOptionsOf(DeviceType device, const DeviceWishes& wishes,
                                            std::vector<const char*>* paths) {
  lathe_device_options options = {};
  options.struct_size = sizeof(options);
  options.kind = device == CPU ? LATHE_DEVICE_CPU : LATHE_DEVICE_ANY;
  options.perf_hint = static_cast<uint32_t>(wishes.perf_hint);
  options.priority_hint = static_cast<uint32_t>(wishes.priority_hint);
  options.dsp_flags = wishes.dsp_flags;
  options.dsp_power = wishes.dsp_power;
  options.dsp_latency = wishes.dsp_latency;
  if (wishes.context == nullptr) return options;
  const GPUContext& context = *wishes.context;
  for (const std::string& path : context.binary_paths) paths->push_back(path.c_str());
  options.storage_path = context.storage_path.empty() ? nullptr : context.storage_path.c_str();
  options.binary_path_count = paths->size();
  options.binary_paths = paths->data();
  options.binary = context.binary;
  options.tuning_path = context.parameter_path.empty() ? nullptr : context.parameter_path.c_str();
  options.tuning = context.parameter;
  return options;
}

// Why an engine for a GPU or a DSP runs on the CPU, or parts of its model do; empty where it is as it should be.
inline std::string WhyNotOn(DeviceType device, const lathe_api* api, const lathe_engine* engine) {
  lathe_device_info info = {};
  info.struct_size = sizeof(info);
  if (api->struct_size < offsetof(lathe_api, device_data) || api->device_info(engine, &info, nullptr) != LATHE_OK)
    return "the library is older than its headers";
  if (info.reason != nullptr) return info.reason;
  if (device == HEXAGON)
    return info.kind == LATHE_DEVICE_DSP ? "" : "the model was not built for a DSP: build it with runtime: dsp";
  return info.kind == LATHE_DEVICE_GPU ? "" : "the model was not built for a GPU: build it with runtime: gpu";
}

// Whether a library holds kernels whose names end so. Whether this machine has the device is found out when an engine
// is made.
inline bool HasKernelsFor(const lathe_api* api, const std::string& end) {
  for (size_t i = 0; i < api->kernel_count(); ++i) {
    const std::string name = api->kernel_name(i);
    if (name.size() > end.size() && name.compare(name.size() - end.size(), std::string::npos, end) == 0) return true;
  }
  return false;
}

}  // namespace face
}  // namespace mace

#endif  // MACE_FACE_GPU_H_
