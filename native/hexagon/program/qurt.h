// What programs need of the DSP's system for threads. Each may be missing: then programs do without threads.
#ifndef LATHE_HEXAGON_PROGRAM_QURT_H_
#define LATHE_HEXAGON_PROGRAM_QURT_H_

#include <stdint.h>

#define LATHE_QURT extern "C" __attribute__((weak))

namespace lathe {
namespace hexagon {

// Objects of the system, with room to spare.
struct alignas(8) Mutex {
  uint8_t bytes[32];
};
struct alignas(8) Signal {
  uint8_t bytes[32];
};

// What a new thread is to be, as qurt_thread_create reads it.
struct ThreadWish {
  char name[16];
  uint8_t partition;
  uint8_t stid;
  uint16_t priority;
  uint8_t flags;
  uint8_t bus_priority;
  uint16_t timer;
  uint32_t stack_size;
  void* stack;
  uint16_t detached;
};
static_assert(sizeof(ThreadWish) == 36 || sizeof(void*) != 4, "the layout of qurt");

constexpr uint8_t kAnyBusPriority = 0xff;
constexpr uint16_t kNoTimer = 0xfffe;
constexpr uint32_t kAnySignal = 0;

}  // namespace hexagon
}  // namespace lathe

LATHE_QURT int qurt_thread_create(unsigned* id, lathe::hexagon::ThreadWish* wish, void (*entry)(void*), void* argument);
LATHE_QURT int qurt_thread_join(unsigned id, int* status);
LATHE_QURT void qurt_thread_exit(int status);
LATHE_QURT unsigned qurt_thread_get_id();
LATHE_QURT int qurt_thread_get_priority(unsigned id);
LATHE_QURT void qurt_mutex_init(lathe::hexagon::Mutex* mutex);
LATHE_QURT void qurt_mutex_lock(lathe::hexagon::Mutex* mutex);
LATHE_QURT void qurt_mutex_unlock(lathe::hexagon::Mutex* mutex);
LATHE_QURT void qurt_signal_init(lathe::hexagon::Signal* signal);
LATHE_QURT unsigned qurt_signal_wait(lathe::hexagon::Signal* signal, unsigned mask, unsigned attribute);
LATHE_QURT unsigned qurt_anysignal_set(lathe::hexagon::Signal* signal, unsigned mask);
LATHE_QURT void qurt_signal_destroy(lathe::hexagon::Signal* signal);

// Threads of processors before v68 own the vectors only between these two; later ones need not ask.
LATHE_QURT int qurt_hvx_lock(int mode);
LATHE_QURT int qurt_hvx_unlock();

#endif  // LATHE_HEXAGON_PROGRAM_QURT_H_
