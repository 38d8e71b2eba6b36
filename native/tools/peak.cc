#include "native/tools/peak.h"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <thread>
#include <vector>

#include "native/tools/json.h"
#include "native/tools/timing.h"

#if defined(__x86_64__)
#include <immintrin.h>
#elif defined(__ARM_NEON)
#include <arm_neon.h>
#include <sys/auxv.h>
#endif

namespace lathe_run {
namespace {

constexpr Nanoseconds kPatience = 30'000'000;  // of one measurement
constexpr int64_t kSteps = 4000;

// `count` times a number of independent multiply-adds, enough to fill the pipes. The sums go to `sink`, so that none of
// them can be left out.
using Loop = void (*)(int64_t count, void* sink);

struct Kind {
  Loop loop;
  int64_t macs;  // of one step
};

constexpr int kChains = 12;  // of them; more would not fit into the registers of AVX2

#define LATHE_PEAK(name, features, type, start, step)                                                             \
  __attribute__((noinline)) features void name(int64_t count, void* sink) {                                       \
    const type a = start(1), b = start(2);                                                                        \
    /* all different, or the compiler computes equal ones once */                                                 \
    type s0 = start(3), s1 = start(4), s2 = start(5), s3 = start(6), s4 = start(7), s5 = start(8), s6 = start(9), \
         s7 = start(10), s8 = start(11), s9 = start(12), s10 = start(13), s11 = start(14);                        \
    for (int64_t n = 0; n < count; ++n) {                                                                         \
      s0 = step(s0, a, b), s1 = step(s1, a, b), s2 = step(s2, a, b), s3 = step(s3, a, b);                         \
      s4 = step(s4, a, b), s5 = step(s5, a, b), s6 = step(s6, a, b), s7 = step(s7, a, b);                         \
      s8 = step(s8, a, b), s9 = step(s9, a, b), s10 = step(s10, a, b), s11 = step(s11, a, b);                     \
    }                                                                                                             \
    const type sums[kChains] = {s0, s1, s2, s3, s4, s5, s6, s7, s8, s9, s10, s11};                                \
    std::memcpy(sink, sums, sizeof(sums));                                                                        \
  }

#define LATHE_WITH(features) __attribute__((target(features)))
#define LATHE_ANY  // what this file is compiled for is enough

#if defined(__x86_64__)
#define LATHE_F32X8(i) _mm256_set1_ps(static_cast<float>(i) * 0.01f)
#define LATHE_F32X16(i) _mm512_set1_ps(static_cast<float>(i) * 0.01f)
#define LATHE_S8X32(i) _mm256_set1_epi8(static_cast<char>(i))
#define LATHE_S8X64(i) _mm512_set1_epi8(static_cast<char>(i))
#define LATHE_FMA8(sum, a, b) _mm256_fmadd_ps(a, b, sum)
#define LATHE_FMA16(sum, a, b) _mm512_fmadd_ps(a, b, sum)
#define LATHE_PAIRS(sum, a, b) \
  _mm256_add_epi32(sum, _mm256_madd_epi16(_mm256_maddubs_epi16(_mm256_xor_si256(a, sum), b), a))
#define LATHE_DOT(sum, a, b) _mm512_dpbusd_epi32(sum, a, b)
LATHE_PEAK(F32Avx2, LATHE_WITH("avx2,fma"), __m256, LATHE_F32X8, LATHE_FMA8)
LATHE_PEAK(F32Avx512, LATHE_WITH("avx512f"), __m512, LATHE_F32X16, LATHE_FMA16)
LATHE_PEAK(S8Avx2, LATHE_WITH("avx2"), __m256i, LATHE_S8X32, LATHE_PAIRS)
LATHE_PEAK(S8Vnni, LATHE_WITH("avx512f,avx512bw,avx512vnni"), __m512i, LATHE_S8X64, LATHE_DOT)

std::vector<Kind> F32Kinds() {
  std::vector<Kind> kinds;
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) kinds.push_back({F32Avx2, kChains * 8});
  if (__builtin_cpu_supports("avx512f")) kinds.push_back({F32Avx512, kChains * 16});
  return kinds;
}

std::vector<Kind> S8Kinds() {
  std::vector<Kind> kinds;
  if (__builtin_cpu_supports("avx2")) kinds.push_back({S8Avx2, kChains * 32});
  if (__builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vnni"))
    kinds.push_back({S8Vnni, kChains * 64});
  return kinds;
}
#elif defined(__aarch64__)
#define LATHE_F32X4(i) vdupq_n_f32(static_cast<float>(i) * 0.01f)
#define LATHE_S32X4(i) vdupq_n_s32(i)
#define LATHE_FMA4(sum, a, b) vfmaq_f32(sum, a, b)
#define LATHE_DOT(sum, a, b) vdotq_s32(sum, vreinterpretq_s8_s32(a), vreinterpretq_s8_s32(b))
#define LATHE_S16X8(i) vdupq_n_s16(i)
#define LATHE_WIDE(sum, a, b) vmlal_high_s8(sum, vreinterpretq_s8_s16(a), vreinterpretq_s8_s16(b))
LATHE_PEAK(F32Neon, LATHE_ANY, float32x4_t, LATHE_F32X4, LATHE_FMA4)
LATHE_PEAK(S8Neon, LATHE_ANY, int16x8_t, LATHE_S16X8, LATHE_WIDE)
// Clang before 16 declares the function only where the whole file is compiled for it.
#if !defined(__clang__) || __clang_major__ >= 16
#define LATHE_HAS_DOT
LATHE_PEAK(S8Dot, LATHE_WITH("arch=armv8.2-a+dotprod"), int32x4_t, LATHE_S32X4, LATHE_DOT)
#endif

std::vector<Kind> F32Kinds() { return {{F32Neon, kChains * 4}}; }
std::vector<Kind> S8Kinds() {
  std::vector<Kind> kinds = {{S8Neon, kChains * 8}};
#if defined(LATHE_HAS_DOT)
  constexpr unsigned long kDotProduct = 1UL << 20;  // HWCAP_ASIMDDP
  if ((getauxval(AT_HWCAP) & kDotProduct) != 0) kinds.push_back({S8Dot, kChains * 16});
#endif
  return kinds;
}
#elif defined(__ARM_NEON)
#define LATHE_F32X4(i) vdupq_n_f32(static_cast<float>(i) * 0.01f)
#define LATHE_S16X8(i) vdupq_n_s16(i)
#define LATHE_FMA4(sum, a, b) vmlaq_f32(sum, a, b)
#define LATHE_WIDE(sum, a, b) vmlal_s8(sum, vget_low_s8(vreinterpretq_s8_s16(a)), vget_low_s8(vreinterpretq_s8_s16(b)))
LATHE_PEAK(F32Neon, LATHE_ANY, float32x4_t, LATHE_F32X4, LATHE_FMA4)
LATHE_PEAK(S8Neon, LATHE_ANY, int16x8_t, LATHE_S16X8, LATHE_WIDE)
std::vector<Kind> F32Kinds() { return {{F32Neon, kChains * 4}}; }
std::vector<Kind> S8Kinds() { return {{S8Neon, kChains * 8}}; }
#else
std::vector<Kind> F32Kinds() { return {}; }
std::vector<Kind> S8Kinds() { return {}; }
#endif

// Runs `work` on all threads at once, again and again; gives the units per nanosecond of all of them together.
// `work(thread)` does `units`.
template <typename Work>
double Rate(int threads, double units, Work work) {
  std::atomic<int> ready(0);
  std::vector<double> rates(static_cast<size_t>(threads));
  const auto measure = [&](int thread) {
    work(thread);  // the first time wakes the units up, and touches the memory
    ++ready;
    while (ready.load() < threads) {
    }
    Nanoseconds now = Now(), best = INT64_MAX;
    for (const Nanoseconds end = now + kPatience; now < end;) {
      const Nanoseconds start = now;
      work(thread);
      now = Now();
      best = std::min(best, std::max<Nanoseconds>(1, now - start));
    }
    rates[static_cast<size_t>(thread)] = units / static_cast<double>(best);
  };
  std::vector<std::thread> others;
  for (int thread = 1; thread < threads; ++thread) others.emplace_back(measure, thread);
  measure(0);
  for (std::thread& other : others) other.join();
  double sum = 0;
  for (const double rate : rates) sum += rate;
  return sum;
}

double MacRate(const std::vector<Kind>& kinds, int threads) {
  double best = 0;
  for (const Kind& kind : kinds) {
    const auto work = [&](int) {
      char sink[kChains * 64];
      kind.loop(kSteps, sink);
    };
    best = std::max(best, Rate(threads, static_cast<double>(kind.macs * kSteps), work));
  }
  return best;
}

using Block = uint64_t __attribute__((vector_size(32), aligned(32)));
struct Line {
  Block blocks[8];
};

inline __attribute__((always_inline)) void ReadLines(const std::vector<Line>& lines, volatile uint64_t* sink) {
  Block a = {}, b = {}, c = {}, d = {};
  for (const Line& line : lines) {
    a |= line.blocks[0], b |= line.blocks[1], c |= line.blocks[2], d |= line.blocks[3];
    a |= line.blocks[4], b |= line.blocks[5], c |= line.blocks[6], d |= line.blocks[7];
  }
  a |= b | c | d;
  *sink = a[0];
}

__attribute__((noinline)) void Read(const std::vector<Line>& lines, volatile uint64_t* sink) { ReadLines(lines, sink); }

#if defined(__x86_64__)
__attribute__((noinline, target("avx2"))) void ReadAvx2(const std::vector<Line>& lines, volatile uint64_t* sink) {
  ReadLines(lines, sink);
}
const auto kRead = __builtin_cpu_supports("avx2") ? ReadAvx2 : Read;
#else
const auto kRead = Read;
#endif

double ReadRate(size_t bytes, int threads) {
  const size_t each = std::max<size_t>(1, bytes / sizeof(Line) / static_cast<size_t>(threads));
  const std::vector<std::vector<Line>> buffers(static_cast<size_t>(threads), std::vector<Line>(each));
  const size_t repeats = std::max<size_t>(1, (size_t{1} << 20) / (each * sizeof(Line)));
  const double units = static_cast<double>(each * sizeof(Line) * repeats);
  return Rate(threads, units, [&](int thread) {
    uint64_t sink = 0;
    for (size_t i = 0; i < repeats; ++i) kRead(buffers[static_cast<size_t>(thread)], &sink);
  });
}

}  // namespace

std::string DescribePeak(int threads) {
  if (threads < 1) threads = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  Json json;
  json.Open('{').Key("threads").Number(threads);
  json.Key("f32_mmacs").Number(static_cast<int64_t>(MacRate(F32Kinds(), threads) * 1e3));
  json.Key("s8_mmacs").Number(static_cast<int64_t>(MacRate(S8Kinds(), threads) * 1e3));
  json.Key("reading").Open('[');
  for (const size_t kilobytes : {16, 128, 512, 2048, 8192, 65536}) {
    json.Open('{').Key("bytes").Number(static_cast<int64_t>(kilobytes * 1024));
    json.Key("mb_s").Number(static_cast<int64_t>(ReadRate(kilobytes * 1024, threads) * 1e3)).Close('}');
  }
  json.Close(']').Close('}');
  return json.text() + "\n";
}

}  // namespace lathe_run
