#include "native/tools/crash.h"

#include <dlfcn.h>
#include <signal.h>
#include <ucontext.h>

#include <cstdio>
#include <cstring>
#include <initializer_list>

namespace lathe_run {
namespace {

struct Running {
  const char* what = "";
  uint32_t index = 0;
  const char* name = "";
};

Running running;
alignas(16) char own_stack[64 * 1024];  // a stack that overflowed is none to work on

struct Registers {
  uintptr_t instruction = 0;
  uintptr_t link = 0;  // where the processor keeps the address to return to, if it does
  uintptr_t stack = 0;
};

Registers RegistersOf(const void* context) {
  Registers found;
  const mcontext_t& machine = static_cast<const ucontext_t*>(context)->uc_mcontext;
#if defined(__x86_64__)
  found.instruction = static_cast<uintptr_t>(machine.gregs[REG_RIP]);
  found.stack = static_cast<uintptr_t>(machine.gregs[REG_RSP]);
#elif defined(__aarch64__)
  found = {static_cast<uintptr_t>(machine.pc), static_cast<uintptr_t>(machine.regs[30]),
           static_cast<uintptr_t>(machine.sp)};
#elif defined(__arm__)
  found = {machine.arm_pc, machine.arm_lr, machine.arm_sp};
#else
  static_cast<void>(machine);
#endif
  return found;
}

// Whether the address lies in a file, and its offset there. Data of the file counts, too: whoever reads the
// symbols sorts that out.
bool TellFrame(uintptr_t address) {
  Dl_info info;
  if (address == 0 || dladdr(reinterpret_cast<const void*>(address), &info) == 0 || info.dli_fname == nullptr)
    return false;
  const auto base = reinterpret_cast<uintptr_t>(info.dli_fbase);
  std::fprintf(stderr, "lathe_run: frame: %zx %s\n", static_cast<size_t>(address - base), info.dli_fname);
  return true;
}

const char* NameOf(int signal) {
  switch (signal) {
    case SIGSEGV:
      return "SIGSEGV";
    case SIGBUS:
      return "SIGBUS";
    case SIGFPE:
      return "SIGFPE";
    case SIGILL:
      return "SIGILL";
    default:
      return "SIGABRT";
  }
}

void Tell(int number, siginfo_t* info, void* context) {
  constexpr size_t kWords = 512, kFrames = 24;
  std::fprintf(stderr, "lathe_run: crash: %s at address %p, %s", NameOf(number), info->si_addr, running.what);
  if (running.name[0] != 0) std::fprintf(stderr, " %u %s", running.index, running.name);
  std::fputc('\n', stderr);
  const Registers registers = RegistersOf(context);
  TellFrame(registers.instruction);
  TellFrame(registers.link);
  if (registers.stack % sizeof(uintptr_t) == 0 && registers.stack != 0) {
    // Reading past the end of the stack raises the signal again, which then ends the program as it should.
    const auto* words = reinterpret_cast<const volatile uintptr_t*>(registers.stack);
    size_t frames = 0;
    for (size_t i = 0; i < kWords && frames < kFrames; ++i) frames += TellFrame(words[i]);
  }
  std::fflush(stderr);
  raise(number);  // the handler is gone by now: the program ends by the signal
}

}  // namespace

void NowRunning(const char* what, uint32_t index, const char* name) { running = {what, index, name}; }

void TellOfCrashes() {
  stack_t stack;
  std::memset(&stack, 0, sizeof(stack));
  stack.ss_sp = own_stack;
  stack.ss_size = sizeof(own_stack);
  sigaltstack(&stack, nullptr);
  struct sigaction action;
  std::memset(&action, 0, sizeof(action));
  action.sa_sigaction = Tell;
  action.sa_flags = SA_SIGINFO | SA_RESETHAND | SA_ONSTACK;
  sigemptyset(&action.sa_mask);
  for (const int number : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) sigaction(number, &action, nullptr);
}

}  // namespace lathe_run
