#include "native/tools/device.h"

namespace lathe_run {

bool ReadDeviceKind(const std::string& word, lathe::DeviceKind* kind) {
  using lathe::DeviceKind;
  static const char* const kWords[] = {"any", "cpu", "gpu", "dsp"};
  static const DeviceKind kKinds[] = {DeviceKind::kAny, DeviceKind::kCpu, DeviceKind::kGpu, DeviceKind::kDsp};
  for (size_t i = 0; i < 4; ++i) {
    if (word != kWords[i]) continue;
    *kind = kKinds[i];
    return true;
  }
  return false;
}

std::string DeviceLine(const lathe::DeviceInfo& info) {
  if (!info.on_device) return "CPU: " + info.reason;
  const bool is_dsp = info.kind == lathe::DeviceKind::kDsp;
  const std::string line = is_dsp ? "DSP: " + info.device : "GPU: " + info.device + ", driver " + info.driver;
  return info.reason.empty() ? line : line + "; a part of the model runs on the CPU: " + info.reason;
}

void DescribeDevice(Json* json, const lathe::DeviceInfo& info) {
  const char* kind = !info.on_device ? "cpu" : info.kind == lathe::DeviceKind::kDsp ? "dsp" : "gpu";
  json->Key("device").Open('{').Key("kind").Text(kind);
  json->Key("name").Text(info.device).Key("driver").Text(info.driver).Key("reason").Text(info.reason);
  json->Key("programs_built").Number(info.programs_built).Key("programs_loaded").Number(info.programs_loaded);
  json->Key("programs_us").Number(static_cast<int64_t>(info.programs_ms * 1000.0f));
  json->Key("bytes").Number(static_cast<int64_t>(info.memory)).Close('}');
}

}  // namespace lathe_run
