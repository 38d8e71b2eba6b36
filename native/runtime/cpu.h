// Which instruction sets this machine has. Their words end the names of kernels; cmake/LatheIsa.cmake knows the flags.
#ifndef LATHE_RUNTIME_CPU_H_
#define LATHE_RUNTIME_CPU_H_

#include <stdint.h>

namespace lathe {

// One bit for each word of this architecture; the lower, the better.
using IsaMask = uint32_t;

// The bit of `opencl` and `hexagon`, the words of kernels that hand their node to a GPU or DSP. Every machine has it:
// whether there is such a device is found out by them.
constexpr IsaMask kDeviceIsa = IsaMask{1} << 31;

// What this machine and its operating system run.
IsaMask CpuIsas();

// The bit of a word; 0 where this architecture does not know it.
IsaMask IsaBit(const char* word);

// The word at the end of a kernel's name.
const char* IsaOf(const char* kernel);

inline bool CpuRuns(const char* word) { return (CpuIsas() & IsaBit(word)) != 0; }

}  // namespace lathe

#endif  // LATHE_RUNTIME_CPU_H_
