#include "native/hexagon/program/power.h"

#include "native/hexagon/power_request.h"

// Loaders that do not know it leave it out.
extern "C" __attribute__((weak)) int HAP_power_set(void* context, lathe::hexagon::PowerRequest* request);

namespace lathe {
namespace hexagon {

namespace {

// Of PowerLevel: release has no corner.
constexpr uint32_t kCorners[] = {0, 0, 6, 5, 4, 3, 2, 1};

}  // namespace

void VoteForPower(void* handle, const Power& power) {
  if (HAP_power_set == nullptr || power.level == kPowerAsItIs || power.level > kPowerSvs2) return;
  PowerRequest request = {};
  request.kind = kPowerApplication;
  request.application = kComputes;
  HAP_power_set(handle, &request);
  const bool releases = power.level == kPowerRelease;
  request = {};
  request.kind = kPowerClocks;
  request.clocks.follows_load = releases || power.follows_load != 0 ? 1 : 0;
  request.clocks.how = releases ? kSavesPower : kPerforms;
  request.clocks.has_latency = power.latency > 0 ? 1 : 0;
  request.clocks.latency = power.latency;
  request.clocks.has_corners = releases ? 0 : 1;
  request.clocks.target = kCorners[power.level];
  HAP_power_set(handle, &request);
  request = {};
  request.kind = kPowerVectors;
  request.vectors = releases ? 0 : 1;
  HAP_power_set(handle, &request);
}

}  // namespace hexagon
}  // namespace lathe
