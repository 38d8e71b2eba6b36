#include "native/runtime/cpu.h"

#include <string.h>

#if defined(__x86_64__)
#include <cpuid.h>
#elif defined(__APPLE__)
#include <sys/sysctl.h>
#elif defined(__linux__)
#include <sys/auxv.h>
#if defined(__riscv)
#include <unistd.h>
#endif
#endif

namespace lathe {

namespace {

// The words of this architecture, the best first: bit n stands for word n. The same order as in
// buildtool/targets/processors.py.
#if defined(__x86_64__)
constexpr char kWords[][9] = {"vnni", "avx512", "avx2", "portable"};
#elif defined(__aarch64__)
constexpr char kWords[][9] = {"i8mm", "dotprod", "fp16", "neon", "portable"};
#elif defined(__arm__)
constexpr char kWords[][9] = {"neonv7", "portable"};
#elif defined(__riscv)
constexpr char kWords[][9] = {"rvv", "portable"};
#elif defined(__hexagon__)
constexpr char kWords[][9] = {"hvx", "portable"};
#elif defined(__wasm__)
constexpr char kWords[][9] = {"simd128", "portable"};
#else
constexpr char kWords[][9] = {"portable"};
#endif
constexpr int kWordCount = sizeof(kWords) / sizeof(kWords[0]);
constexpr IsaMask kPortable = IsaMask{1} << (kWordCount - 1);

[[maybe_unused]] constexpr bool HasAll(uint64_t flags, uint64_t wanted) { return (flags & wanted) == wanted; }

#if defined(__x86_64__)

// Which registers the operating system keeps when it changes threads.
uint32_t SavedRegisters() {
  uint32_t low, high;
  __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return low;
}

IsaMask Better() {
  uint32_t eax, ebx, ecx, edx;
  if (__get_cpuid(1, &eax, &ebx, &ecx, &edx) == 0) return 0;
  constexpr uint32_t kFma = 1u << 12, kSavesState = 1u << 27, kAvx = 1u << 28, kF16c = 1u << 29;
  if (!HasAll(ecx, kFma | kSavesState | kAvx | kF16c)) return 0;
  const uint32_t saved = SavedRegisters();
  if (!HasAll(saved, 0x6)) return 0;  // the lower 256 bits of the vectors
  if (__get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) == 0) return 0;
  constexpr uint32_t kAvx2 = 1u << 5;
  constexpr uint32_t kAvx512 = 1u << 16 | 1u << 17 | 1u << 30 | 1u << 31;  // F, DQ, BW, VL
  if (!HasAll(ebx, kAvx2)) return 0;
  if (!HasAll(ebx, kAvx512) || !HasAll(saved, 0xe6)) return 4;
  constexpr uint32_t kVnni = 1u << 11;
  return HasAll(ecx, kVnni) ? 7 : 6;
}

#elif defined(__aarch64__) && defined(__APPLE__)

bool SystemHas(const char* name) {
  int value = 0;
  size_t size = sizeof(value);
  return sysctlbyname(name, &value, &size, nullptr, 0) == 0 && value != 0;
}

IsaMask Better() {
  IsaMask words = 8;
  if (SystemHas("hw.optional.arm.FEAT_FP16")) words |= 4;
  if (!SystemHas("hw.optional.arm.FEAT_DotProd")) return words;
  return words | (SystemHas("hw.optional.arm.FEAT_I8MM") ? 3 : 2);
}

#elif defined(__aarch64__)

IsaMask Better() {
  constexpr uint64_t kFphp = 1u << 9, kAsimdHp = 1u << 10, kAsimdDp = 1u << 20;  // of AT_HWCAP
  constexpr unsigned long kHwcap2 = 26;  // AT_HWCAP2: not all headers have a word for it
  constexpr uint64_t kI8mm = 1u << 13;   // of it
  const uint64_t flags = getauxval(AT_HWCAP);
  IsaMask words = 8;
  if (HasAll(flags, kFphp | kAsimdHp)) words |= 4;
  if (!HasAll(flags, kAsimdDp)) return words;
  return words | (HasAll(getauxval(kHwcap2), kI8mm) ? 3 : 2);
}

#elif defined(__arm__)

IsaMask Better() {
  constexpr uint64_t kNeon = 1u << 12, kVfpV4 = 1u << 16;
  return HasAll(getauxval(AT_HWCAP), kNeon | kVfpV4) ? 1 : 0;
}

#elif defined(__riscv)

// Vectors of version 1.0. The system says so since Linux 6.4 (riscv_hwprobe) or, in AT_HWCAP, since 6.5. Older systems
// of vendors set that bit for version 0.7, too, which has other instructions: the setting of a vector that agnostic
// elements follow is one of version 1.0 only, and both versions answer without a trap whether they have a setting.
IsaMask Better() {
#if defined(__linux__)
  struct {
    int64_t key;
    uint64_t value;
  } probed = {4, 0};                                                            // RISCV_HWPROBE_KEY_IMA_EXT_0
  constexpr long kHwprobe = 258;                                                // not all headers have a word for it
  constexpr uint64_t kProbedV = 1u << 2, kHwcapV = uint64_t{1} << ('v' - 'a');  // RISCV_HWPROBE_IMA_V
  if (syscall(kHwprobe, &probed, 1ul, 0ul, nullptr, 0u) == 0 && probed.key == 4) return HasAll(probed.value, kProbedV);
  if (!HasAll(getauxval(AT_HWCAP), kHwcapV)) return 0;
  constexpr unsigned long kAgnostic = 0xd0;  // elements of 32 bits, one register
  unsigned long length = 4, setting = 0;
  __asm__ volatile(".insn r 0x57, 7, 0x40, %0, %2, %3\n\tcsrr %1, 0xc21"  // vsetvl, vtype
                   : "=&r"(length), "=r"(setting)
                   : "r"(length), "r"(kAgnostic));
  return setting == kAgnostic && length == 4;
#else
  return 0;
#endif
}

#elif defined(__hexagon__)

IsaMask Better() { return 1; }  // a program is compiled for one version, and all have vectors

#elif defined(__wasm_simd128__)

IsaMask Better() { return 1; }  // an engine without vectors refuses the whole module

#else

IsaMask Better() { return 0; }

#endif

}  // namespace

IsaMask CpuIsas() { return Better() | kPortable | kDeviceIsa; }

IsaMask IsaBit(const char* word) {
  for (int i = 0; i < kWordCount; ++i) {
    if (strcmp(kWords[i], word) == 0) return IsaMask{1} << i;
  }
  return strcmp(word, "opencl") == 0 || strcmp(word, "hexagon") == 0 ? kDeviceIsa : 0;
}

const char* IsaOf(const char* kernel) {
  const char* last = strrchr(kernel, '_');
  return last != nullptr ? last + 1 : kernel;
}

}  // namespace lathe
