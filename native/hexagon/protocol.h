// The interface of Lathe's programs on the DSP: its methods beside those of FastRPC, and the blocks that they carry.
// All blocks have the same layout on both sides. A call that reached the program gives kOk; what became of it is in
// `Reply`.
#ifndef LATHE_HEXAGON_PROTOCOL_H_
#define LATHE_HEXAGON_PROTOCOL_H_

#include <stdint.h>

namespace lathe {
namespace hexagon {

constexpr uint32_t kProtocolVersion = 3;

// A block `Create`, the container of a part of a model, its data; out: a reply.
constexpr uint32_t kMethodCreate = 2;
// A block `Call`, the inputs of the part; out: a reply, the outputs, and what the call wishes besides.
constexpr uint32_t kMethodRun = 3;
// A block `Call`; out: a reply.
constexpr uint32_t kMethodDestroy = 4;

constexpr uint32_t kMostParts = 64;   // of one handle
constexpr uint32_t kMostThreads = 4;  // of one part

// The numbers of lathe_device_options.dsp_power.
constexpr uint8_t kPowerAsItIs = 0, kPowerRelease = 1, kPowerSvs2 = 7;

// How fast the DSP should be. What the last part says counts.
struct Power {
  uint8_t level;
  uint8_t follows_load;  // clocks may be lower where there is less to do
  uint16_t latency;      // microseconds until the DSP is awake; 0: any
};

struct Create {
  uint32_t version;
  Power power;
  uint32_t threads;  // that compute the part, at most
};

enum class Wish : uint32_t {
  kNothing,
  kTimes,  // a `NodeTime` for each node
  kValues  // the outputs of all nodes, each at a multiple of 64 bytes
};

struct Call {
  uint32_t part;  // the number that creating it gave
  Wish wish;
};

struct NodeTime {
  uint64_t nanoseconds;
};

struct Reply {
  int32_t code;   // of lathe::Code
  uint32_t part;  // of what was created
  uint64_t memory_bytes;
  char message[256];  // where the code is not kOk
};

}  // namespace hexagon
}  // namespace lathe

#endif  // LATHE_HEXAGON_PROTOCOL_H_
