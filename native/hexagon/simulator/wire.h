// What the stand-in for the driver's library (rpc.cc) and the emulated DSP (dsp/) say to each other, over one socket.
// Both sides are little-endian, and all fields have the same size on both.
#ifndef LATHE_HEXAGON_SIMULATOR_WIRE_H_
#define LATHE_HEXAGON_SIMULATOR_WIRE_H_

#include <stdint.h>

namespace lathe {
namespace hexagon {

constexpr int kSocket = 3;  // of the emulated DSP

enum class Request : uint32_t { kLoad, kInvoke };

// kLoad: `count` bytes follow, the path of a program and the name of its entry, each with a zero behind it.
// kInvoke: `count` heads of arguments follow, and behind them the bytes of inputs that are not shared.
struct RequestHead {
  Request request;
  uint32_t scalars;
  uint64_t handle;
  uint32_t count;
  uint32_t most_threads;  // that the program may have besides the one that calls it
  uint32_t most_vectors;  // threads that may hold the vectors at a time
  uint32_t reserved;
};

// An argument. One in memory that both sides see is a part of a file of the application.
struct BufferHead {
  uint64_t size;
  uint64_t offset;   // in the file
  uint32_t process;  // 0: not shared
  uint32_t file;
  uint32_t whole;   // bytes of the file
  uint32_t number;  // of the memory: files come again
};

// Behind it the bytes of all outputs that are not shared, where `result` is 0.
struct AnswerHead {
  int32_t result;
  uint32_t live_blocks;  // of memory that the program has not given back
  uint64_t handle;       // that came out
  uint32_t corner;       // of voltage that a program has asked for last, and 0x100 where clocks follow the load
  uint32_t latency;
  uint32_t made_threads;  // by the program
  uint32_t live_threads;  // that it has not joined
};

}  // namespace hexagon
}  // namespace lathe

#endif  // LATHE_HEXAGON_SIMULATOR_WIRE_H_
