// What this processor can do at most: multiply-accumulates of registers, and reading from memory.
#ifndef LATHE_TOOLS_PEAK_H_
#define LATHE_TOOLS_PEAK_H_

#include <string>

namespace lathe_run {

// A JSON object: million multiply-accumulates per second of f32 and s8, and megabytes per second that are read from
// buffers of several sizes, all with this number of threads (0: one per core). It takes less than a second.
std::string DescribePeak(int threads);

}  // namespace lathe_run

#endif  // LATHE_TOOLS_PEAK_H_
