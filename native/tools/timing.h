// Runs a session again and again, and keeps what each round and each node took.
#ifndef LATHE_TOOLS_TIMING_H_
#define LATHE_TOOLS_TIMING_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "lathe/engine.h"
#include "native/tools/json.h"

namespace lathe_run {

using Nanoseconds = int64_t;

// A node in all rounds that were observed.
struct NodeTimes {
  uint32_t index;  // in the order of the graph, nodes of regions included
  std::string name, op, kernel;
  std::vector<Nanoseconds> starts, ends;  // of each round, since the round began
};

// What a thread did of one loop that several shared, since the round began.
struct ThreadSpan {
  uint32_t thread, slices;
  Nanoseconds start, end;
};

struct Timings {
  std::vector<Nanoseconds> warmup;
  std::vector<Nanoseconds> rounds;
  std::vector<Nanoseconds> observed;                    // rounds that were timed node by node
  std::vector<NodeTimes> nodes;                         // in the order in which they run
  std::vector<ThreadSpan> threads;                      // of the round whose node times are told, in no order
  std::vector<std::pair<std::string, int64_t>> energy;  // microjoules of all `rounds`, by the meter that counts them
};

Nanoseconds Now();

// Nothing but `Run` happens between the two readings of the clock. The energy is what the meters below `powercap`
// (a folder as Linux has it) counted meanwhile, for all of the machine; none where they are missing or not readable.
lathe::Status TimeRounds(lathe::Session* session, int warmup, int rounds, const std::string& powercap, Timings* result);

lathe::Status ObserveRounds(const lathe::Engine& engine, lathe::Session* session, int rounds, Timings* result);

// For qemu/count_plugin.c: marker 0, a run, marker 1, then a run with a marker 3 in front of each node and a marker 2
// behind it. What the observer does lies between a marker 2 and the next 3.
lathe::Status MarkRounds(lathe::Session* session, Timings* result);

Nanoseconds Median(std::vector<Nanoseconds> times);

// The fields of an object that is open.
void DescribeTimings(Json* json, const Timings& timings);
void DescribeNodes(Json* json, const Timings& timings);
void DescribeThreads(Json* json, const std::vector<ThreadSpan>& threads);

}  // namespace lathe_run

#endif  // LATHE_TOOLS_TIMING_H_
