#include "native/runtime/cores.h"

#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "native/runtime/threads.h"

namespace lathe {

namespace {

constexpr char kFolder[] = "/sys/devices/system/cpu";

// The number that a file of the system begins with; 0 where there is none.
uint32_t ReadNumber(const char* folder, uint32_t core, const char* name) {
  char path[256];
  snprintf(path, sizeof(path), "%.180s/cpu%u/%s", folder, core, name);
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return 0;
  char text[12] = {};
  const ssize_t size = read(file, text, sizeof(text) - 1);
  close(file);
  uint32_t number = 0;
  for (ssize_t i = 0; i < size && text[i] >= '0' && text[i] <= '9' && number < 100000000u; ++i)
    number = number * 10 + static_cast<uint32_t>(text[i] - '0');
  return number;
}

// What tells cores apart; 0 where the system does not say.
uint32_t SpeedOf(const lathe_core_info& info, bool by_capacity) { return by_capacity ? info.capacity : info.max_khz; }

void Classify(Cores* cores) {
  for (int attempt = 0; attempt < 2; ++attempt) {
    const bool by_capacity = attempt == 0;
    uint32_t low = UINT32_MAX, high = 0;
    for (uint32_t i = 0; i < cores->count; ++i) {
      const uint32_t speed = SpeedOf(cores->info[i], by_capacity);
      if (speed < low) low = speed;
      if (speed > high) high = speed;
    }
    // Cores that differ by less are one kind with a little more turbo.
    if (low == 0 || uint64_t{low} * 10 >= uint64_t{high} * 9) continue;
    for (uint32_t i = 0; i < cores->count; ++i) {
      const uint64_t speed = SpeedOf(cores->info[i], by_capacity);
      cores->info[i].kind = speed * 2 >= uint64_t{low} + high ? LATHE_CORE_BIG : LATHE_CORE_LITTLE;
    }
    return;
  }
}

uint32_t Rank(const lathe_core_info& info) { return info.capacity != 0 ? info.capacity : info.max_khz; }

void Append(const lathe_core_info& info, Binding* binding) {
  binding->core[binding->count++] = static_cast<uint8_t>(info.core);
}

Code FindListed(const lathe_cpu_options& options, const Cores& cores, const ErrorSink& errors, Binding* binding) {
  if (options.cores == nullptr || options.core_count > kMaxCores)
    return errors.Fail(Code::kInvalidArgument, "cpu options: a list of 1 to %u cores is needed", kMaxCores);
  for (uint32_t i = 0; i < options.core_count; ++i) {
    const uint32_t core = options.cores[i];
    if (core >= cores.count || !cores.info[core].allowed)
      return errors.Fail(Code::kInvalidArgument, "cpu options: this process cannot run on core %u (of %u)", core,
                         cores.count);
    Append(cores.info[core], binding);
  }
  binding->whole = true;
  return Code::kOk;
}

}  // namespace

// The system's own type has room for more cores, and its functions take any size.
bool CoresOfThread(CoreSet* set) { return sched_getaffinity(0, sizeof(*set), reinterpret_cast<cpu_set_t*>(set)) == 0; }
bool MoveThread(const CoreSet& set) {
  return sched_setaffinity(0, sizeof(set), reinterpret_cast<const cpu_set_t*>(&set)) == 0;
}

void FindCores(const char* folder, uint32_t count, Cores* cores) {
  CoreSet allowed;
  const bool known = CoresOfThread(&allowed);
  cores->count = count < kMaxCores ? count : kMaxCores;
  for (uint32_t i = 0; i < cores->count; ++i) {
    lathe_core_info* info = &cores->info[i];
    *info = {sizeof(*info), i, LATHE_CORE_ALIKE, !known || allowed.Has(i) ? 1u : 0u, 0, 0};
    info->capacity = ReadNumber(folder, i, "cpu_capacity");
    info->max_khz = ReadNumber(folder, i, "cpufreq/cpuinfo_max_freq");
  }
  Classify(cores);
}

void FindCores(Cores* cores) {
  const long count = sysconf(_SC_NPROCESSORS_CONF);
  FindCores(kFolder, count > 0 ? static_cast<uint32_t>(count) : 1, cores);
}

Code FindBinding(const lathe_cpu_options& options, const Cores& cores, const ErrorSink& errors, Binding* binding) {
  *binding = {};
  if (options.core_count != 0) return FindListed(options, cores, errors, binding);
  if (options.power > LATHE_POWER_RAND_LOW)
    return errors.Fail(Code::kInvalidArgument, "cpu options: there is no power mode %u", options.power);
  if (options.power == LATHE_POWER_NO_BIND) return Code::kOk;
  const bool full = options.power == LATHE_POWER_FULL;
  const bool low = options.power == LATHE_POWER_LOW || options.power == LATHE_POWER_RAND_LOW;
  for (uint32_t i = 0; i < cores.count; ++i) {
    const lathe_core_info& info = cores.info[i];
    if (!info.allowed || (!full && info.kind != (low ? LATHE_CORE_LITTLE : LATHE_CORE_BIG))) continue;
    Append(info, binding);
  }
  binding->turns = options.power >= LATHE_POWER_RAND_HIGH;
  binding->whole = !full && !binding->turns;
  if (!full) return Code::kOk;
  // Fast cores first, by insertion: those of one speed stay in order.
  for (uint32_t i = 1; i < binding->count; ++i) {
    for (uint32_t at = i; at > 0; --at) {
      uint8_t* pair = binding->core + at - 1;
      if (Rank(cores.info[pair[0]]) >= Rank(cores.info[pair[1]])) break;
      const uint8_t first = pair[0];
      pair[0] = pair[1];
      pair[1] = first;
    }
  }
  return Code::kOk;
}

CoreSet Binding::Select(uint32_t run, int threads) const {
  CoreSet set;
  const uint32_t wanted = whole || static_cast<uint32_t>(threads) > count ? count : static_cast<uint32_t>(threads);
  const uint32_t first = turns ? run / kRunsPerCore : 0;
  for (uint32_t i = 0; i < wanted; ++i) set.Add(core[(first + i) % count]);
  return set;
}

namespace {

class PoolBinder final : public Binder {
 public:
  Code Bind(const lathe_cpu_options& options, int threads, const ErrorSink& errors) override {
    Cores cores;
    FindCores(&cores);
    Binding found;
    LATHE_TRY(FindBinding(options, cores, errors, &found));
    const bool was_bound = binding_.count != 0;
    binding_ = found;
    threads_ = threads;
    CoreSet anywhere;
    if (found.count != 0) {
      MoveTo(found.Select(runs_, threads));
    } else if (was_bound && CoresOfThread(&anywhere)) {
      MoveTo(anywhere);  // threads that are bound no longer go to where the caller may be
    }
    return Code::kOk;
  }

  int Limit(int threads) const override {
    const int cores = static_cast<int>(binding_.count);
    return cores != 0 && (threads == 0 || threads > cores) ? cores : threads;
  }

  size_t CoresNow(uint32_t* cores, size_t most) const override {
    if (binding_.count == 0) return 0;
    const CoreSet now = Load();
    size_t count = 0;
    for (uint32_t core = 0; core < kMaxCores; ++core) {
      if (!now.Has(core)) continue;
      if (count < most) cores[count] = core;
      ++count;
    }
    return count;
  }

  bool Enter(ThreadPool* pool, CoreSet* before) override {
    if (binding_.count == 0) return false;
    const uint32_t run = __atomic_fetch_add(&runs_, 1, __ATOMIC_SEQ_CST);
    // A job of another session keeps its cores: this turn is left out then.
    if (binding_.turns && run % kRunsPerCore == 0 && pool->Keep()) {
      MoveTo(binding_.Select(run, threads_));
      pool->LetGo();
    }
    const CoreSet now = Load();
    if (!CoresOfThread(before) || memcmp(before, &now, sizeof(now)) == 0) return false;
    return MoveThread(now);
  }
  void Leave(const CoreSet& before) override { MoveThread(before); }

  // The gate of the pool orders this after the change. A system that refuses leaves the thread where it is.
  void Follow(uint32_t* seen) override {
    if (moves_ != *seen) MoveThread(Load());
    *seen = moves_;
  }

 private:
  void MoveTo(const CoreSet& cores) {
    for (size_t i = 0; i < kWords; ++i) __atomic_store_n(&cores_.words[i], cores.words[i], __ATOMIC_SEQ_CST);
    ++moves_;
  }
  CoreSet Load() const {
    CoreSet cores;
    for (size_t i = 0; i < kWords; ++i) cores.words[i] = __atomic_load_n(&cores_.words[i], __ATOMIC_SEQ_CST);
    return cores;
  }

  static constexpr size_t kWords = sizeof(CoreSet) / sizeof(uint32_t);
  Binding binding_;
  int threads_ = 1;
  CoreSet cores_;  // of the current turn
  uint32_t runs_ = 0;
  uint32_t moves_ = 0;  // how often cores_ has changed
};

Code MakeBinder(const lathe_allocator& allocator, const ErrorSink& errors, Binder** binder) {
  void* memory = AllocateFrom(allocator, sizeof(PoolBinder));
  if (memory == nullptr) return errors.OutOfMemory("the binding of threads", sizeof(PoolBinder));
  *binder = new (Place(), memory) PoolBinder();
  return Code::kOk;
}

Code CreateBound(const lathe_cpu_options& options, int32_t threads, const lathe_allocator& allocator,
                 const ErrorSink& errors, ThreadPool** pool) {
  if (threads < 0) return errors.Fail(Code::kInvalidArgument, "the number of threads is negative");
  Binder* binder = nullptr;
  LATHE_TRY(MakeBinder(allocator, errors, &binder));
  Code code = binder->Bind(options, threads, errors);
  if (code == Code::kOk) code = ThreadPool::Create(binder->Limit(threads), allocator, errors, pool);
  if (code != Code::kOk) {
    allocator.free(allocator.user, binder);
    return code;
  }
  (*pool)->set_binder(binder);
  return binder->Bind(options, (*pool)->threads(), errors);
}

Code BindPool(ThreadPool* pool, const lathe_cpu_options& options, const ErrorSink& errors) {
  if (pool->binder() == nullptr) {
    Binder* binder = nullptr;
    LATHE_TRY(MakeBinder(pool->allocator(), errors, &binder));
    pool->set_binder(binder);
  }
  return pool->binder()->Bind(options, pool->threads(), errors);
}

}  // namespace

const CoreBinding kCoreBinding = {FindCores, CreateBound, BindPool};

}  // namespace lathe
