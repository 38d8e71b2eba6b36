// FastRPC, by which an application calls a program on the DSP: what both sides, and the stand-in for the driver's
// library, agree on. Our own declarations, so that building needs no SDK.
#ifndef LATHE_HEXAGON_FASTRPC_H_
#define LATHE_HEXAGON_FASTRPC_H_

#include <stddef.h>
#include <stdint.h>

namespace lathe {
namespace hexagon {

using Handle = uint64_t;

// An argument of a call: inputs first, then outputs, then handles that go in, then those that come out.
union Argument {
  struct {
    void* data;
    size_t size;
  } buffer;
  uint32_t handle;
  Handle handle64;
  struct {
    int32_t fd;
    uint32_t offset;
  } shared;
};

// What is called, and with how many arguments of each kind.
constexpr uint32_t Scalars(uint32_t method, uint32_t inputs, uint32_t outputs, uint32_t handles_in = 0,
                           uint32_t handles_out = 0) {
  return (method & 0x1f) << 24 | (inputs & 0xff) << 16 | (outputs & 0xff) << 8 | (handles_in & 0xf) << 4 |
         (handles_out & 0xf);
}
constexpr uint32_t MethodOf(uint32_t scalars) { return scalars >> 24 & 0x1f; }
constexpr uint32_t InputsOf(uint32_t scalars) { return scalars >> 16 & 0xff; }
constexpr uint32_t OutputsOf(uint32_t scalars) { return scalars >> 8 & 0xff; }
constexpr uint32_t HandlesInOf(uint32_t scalars) { return scalars >> 4 & 0xf; }
constexpr uint32_t HandlesOutOf(uint32_t scalars) { return scalars & 0xf; }

// Methods of every interface: two inputs (a block of numbers, the URI) and a handle; a handle that goes.
constexpr uint32_t kMethodOpen = 0, kMethodClose = 1;

// Answers, as far as anybody here looks at them.
constexpr int kOk = 0;
constexpr int kFailed = 1;                                              // AEE_EFAILED
constexpr int kNoMemory = 2;                                            // AEE_ENOMEMORY
constexpr int kBadParameter = 14;                                       // AEE_EBADPARM
constexpr int kUnsupported = 20;                                        // AEE_EUNSUPPORTED
constexpr int kExpired = 41;                                            // AEE_EEXPIRED: it took too long
constexpr int kConnectionReset = 39;                                    // the DSP went down
constexpr int kSignature = static_cast<int>(0x80000406 - 0x100000000);  // the DSP refuses the program's signature
constexpr int kDspDown = static_cast<int>(0x8000040d - 0x100000000);    // the DSP went down

// Requests of remote_session_control, and what goes with them.
constexpr uint32_t kRequestThread = 1;
constexpr uint32_t kRequestUnsigned = 2;
constexpr int32_t kComputeDomain = 3;
struct ThreadParameters {
  int32_t domain;
  int32_t priority;  // -1: the usual one
  int32_t stack_bytes;
};
struct UnsignedDomain {
  int32_t domain;
  int32_t enable;
};

// Memory that both sides see: heap and flags of rpcmem_alloc.
constexpr int kSystemHeap = 25;
constexpr uint32_t kDefaultFlags = 1;

}  // namespace hexagon
}  // namespace lathe

#endif  // LATHE_HEXAGON_FASTRPC_H_
