// What HAP_power_set of the DSP's system takes, as far as programs use it: the layout that it has since v60.
#ifndef LATHE_HEXAGON_POWER_REQUEST_H_
#define LATHE_HEXAGON_POWER_REQUEST_H_

#include <stdint.h>

namespace lathe {
namespace hexagon {

constexpr uint32_t kPowerVectors = 2, kPowerApplication = 3, kPowerClocks = 7;  // kinds of requests
constexpr uint32_t kComputes = 4;                                               // of applications
constexpr uint32_t kSavesPower = 4, kPerforms = 16;                             // how clocks follow the load

struct PowerRequest {
  uint32_t kind;
  uint32_t padding;
  union {
    uint32_t application;
    uint8_t vectors;
    struct {
      uint8_t follows_load;
      uint32_t how;
      uint8_t has_latency;
      uint32_t latency;  // microseconds until the DSP is awake
      uint8_t has_corners;
      uint32_t target, least, most;  // 1 for the lowest voltage to 6 for turbo; 0: any
      uint32_t reserved[3];
    } clocks;
    uint8_t room[112];
  };
};
static_assert(sizeof(PowerRequest) == 120, "as the system declares it");

}  // namespace hexagon
}  // namespace lathe

#endif  // LATHE_HEXAGON_POWER_REQUEST_H_
