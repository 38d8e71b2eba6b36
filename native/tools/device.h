// The GPU of a run: what the command line says of it, and what came of that.
#ifndef LATHE_TOOLS_DEVICE_H_
#define LATHE_TOOLS_DEVICE_H_

#include <string>

#include "lathe/engine.h"
#include "native/tools/json.h"

namespace lathe_run {

// A word of --device; false where it is none.
bool ReadDeviceKind(const std::string& word, lathe::DeviceKind* kind);

// "GPU: <name>, driver <version>" or "CPU: <why>", as a sentence for people.
std::string DeviceLine(const lathe::DeviceInfo& info);

// The key `device` of an object that is open.
void DescribeDevice(Json* json, const lathe::DeviceInfo& info);

}  // namespace lathe_run

#endif  // LATHE_TOOLS_DEVICE_H_
