// The emulated DSP as a program of qemu-hexagon: calls of Linux, and what takes the place of the DSP's own system.
#ifndef LATHE_HEXAGON_SIMULATOR_DSP_SYSTEM_H_
#define LATHE_HEXAGON_SIMULATOR_DSP_SYSTEM_H_

#include <stddef.h>
#include <stdint.h>

namespace lathe {
namespace hexagon {

// Linux. Negative: an error.
long Read(int file, void* to, size_t count);
long Write(int file, const void* from, size_t count);
long OpenFile(const char* path);
long FileSize(int file);
void CloseFile(int file);
void* MapMemory(size_t size);  // readable, writable and executable; null where there is none
// A file of another process, whose memory is seen by both; null where that cannot be.
void* MapShared(uint32_t process, uint32_t file, size_t size);
void UnmapMemory(void* memory, size_t size);
[[noreturn]] void Exit(int code);
[[noreturn]] void ExitThread();
long ThreadId();
// Until it is woken, or for no reason; not where the word has another value.
void Sleep(uint32_t* word, uint32_t value);
// The same, where Linux does the waking because a thread has ended.
void SleepUntilEnded(uint32_t* word, uint32_t value);
void Wake(uint32_t* word);
// A call without effect, at which a plugin of qemu notes down what has been executed (native/tools/qemu).
void Mark(uint32_t number);

// Says what went wrong, on the standard error.
void Complain(const char* format, ...) __attribute__((format(printf, 1, 2)));

// Blocks of the heap that programs have and have not given back.
uint32_t LiveBlocks();
// What programs have asked for of the clocks, as AnswerHead has it.
void TellPower(uint32_t* corner, uint32_t* latency);

// The address of what programs import from the DSP's system by this name; 0 where there is none.
uintptr_t SystemSymbol(const char* name);

uintptr_t ThreadSymbol(const char* name);  // of those, threads.cc
// How many threads programs may have at a time besides the one that calls them. At 0, a program that is loaded finds
// nothing of threads. And how many may hold the vectors.
void LimitThreads(uint32_t most, uint32_t vectors);
// How many they have made, and how many of those they have not joined.
void CountThreads(uint32_t* made, uint32_t* live);

// A program that was loaded, by its path: the address of its entry, or 0 after a complaint.
uintptr_t LoadProgram(const char* path, const char* entry);

}  // namespace hexagon
}  // namespace lathe

#endif  // LATHE_HEXAGON_SIMULATOR_DSP_SYSTEM_H_
