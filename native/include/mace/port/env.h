// The system around the program: its clock, its cores, its files.
#ifndef MACE_PORT_ENV_H_
#define MACE_PORT_ENV_H_

#include <sys/stat.h>

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "mace/face/cores.h"
#include "mace/port/file_system.h"
#include "mace/port/logger.h"
#include "mace/public/mace.h"

namespace mace {
namespace port {

// Counts nothing: Lathe has no hook in malloc.
class MallocLogger {
 public:
  MallocLogger() = default;
  virtual ~MallocLogger() = default;
};

class Env {
 public:
  virtual ~Env() = default;
  virtual int64_t NowMicros() = 0;
  virtual MaceStatus AdviseFree(void* addr, size_t length) = 0;
  virtual MaceStatus GetCPUMaxFreq(std::vector<float>* max_freqs) = 0;
  virtual MaceStatus SchedSetAffinity(const std::vector<size_t>& cpu_ids) = 0;
  virtual FileSystem* GetFileSystem() = 0;
  virtual LogWriter* GetLogWriter() = 0;
  // Empty: nothing here walks a stack.
  virtual std::vector<std::string> GetBackTraceUnsafe(int max_steps) = 0;
  virtual std::unique_ptr<MallocLogger> NewMallocLogger(std::ostringstream* oss, const std::string& name) = 0;

  static Env* Default();
};

}  // namespace port

namespace face {

class PosixEnv : public port::Env {
 public:
  int64_t NowMicros() override {
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    return std::chrono::duration_cast<std::chrono::microseconds>(now).count();
  }
  MaceStatus AdviseFree(void* addr, size_t length) override {
    return madvise(addr, length, MADV_DONTNEED) == 0 ? MaceStatus() : MaceStatus(MaceStatus::MACE_RUNTIME_ERROR);
  }
  MaceStatus GetCPUMaxFreq(std::vector<float>* max_freqs) override {
    *max_freqs = Frequencies();
    return max_freqs->empty() ? MaceStatus(MaceStatus::MACE_RUNTIME_ERROR, "the system does not tell") : MaceStatus();
  }
  MaceStatus SchedSetAffinity(const std::vector<size_t>& cpu_ids) override {
#if defined(__linux__)
    cpu_set_t wanted;
    CPU_ZERO(&wanted);
    for (const size_t core : cpu_ids) {
      if (core >= CPU_SETSIZE) return MaceStatus(MaceStatus::MACE_INVALID_ARGS, "there is no such core");
      CPU_SET(core, &wanted);
    }
    if (sched_setaffinity(0, sizeof(wanted), &wanted) == 0) return MaceStatus();
    return MaceStatus(MaceStatus::MACE_INVALID_ARGS, std::strerror(errno));
#else
    static_cast<void>(cpu_ids);
    return MaceStatus(MaceStatus::MACE_UNSUPPORTED);
#endif
  }
  port::FileSystem* GetFileSystem() override { return &files_; }
  port::LogWriter* GetLogWriter() override { return &writer_; }
  std::vector<std::string> GetBackTraceUnsafe(int) override { return std::vector<std::string>(); }
  std::unique_ptr<port::MallocLogger> NewMallocLogger(std::ostringstream*, const std::string&) override {
    return std::unique_ptr<port::MallocLogger>(new port::MallocLogger);
  }

 private:
  PosixFiles files_;
  port::LogWriter writer_;
};

}  // namespace face

inline port::Env* port::Env::Default() {
  static face::PosixEnv env;
  return &env;
}

inline int64_t NowMicros() { return port::Env::Default()->NowMicros(); }

inline MaceStatus AdviseFree(void* addr, size_t length) { return port::Env::Default()->AdviseFree(addr, length); }

inline MaceStatus GetCPUMaxFreq(std::vector<float>* max_freqs) {
  return port::Env::Default()->GetCPUMaxFreq(max_freqs);
}

inline MaceStatus SchedSetAffinity(const std::vector<size_t>& cpu_ids) {
  return port::Env::Default()->SchedSetAffinity(cpu_ids);
}

inline port::FileSystem* GetFileSystem() { return port::Env::Default()->GetFileSystem(); }

inline MaceStatus Memalign(void** memptr, size_t alignment, size_t size) {
  if (posix_memalign(memptr, alignment, size) == 0) return MaceStatus();
  *memptr = nullptr;
  return MaceStatus(MaceStatus::MACE_OUT_OF_RESOURCES);
}

// A variable that is not set leaves `value` as it is.
inline MaceStatus GetEnv(const char* name, std::string* value) {
  const char* found = std::getenv(name);
  if (found != nullptr) *value = found;
  return MaceStatus();
}

}  // namespace mace

#endif  // MACE_PORT_ENV_H_
