// LOG, VLOG and checks that end the program.
#ifndef MACE_UTILS_LOGGING_H_
#define MACE_UTILS_LOGGING_H_

#include <memory>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "mace/port/env.h"
#include "mace/port/logger.h"
#include "mace/utils/macros.h"
#include "mace/utils/memory.h"
#include "mace/utils/string_util.h"

#define LOG(severity) ::mace::port::Logger(__FILE__, __LINE__, ::mace::severity)
#define LOG_PTR(severity) ::mace::make_unique<::mace::port::Logger>(__FILE__, __LINE__, ::mace::severity)

#define VLOG_IS_ON(vll) (::mace::ShouldGenerateVLogMessage(vll))
#define VLOG(vll) \
  if (VLOG_IS_ON(vll)) LOG(INFO)

#define MACE_CHECK(condition, ...) \
  if (!(condition)) LOG(FATAL) << "Check failed: " #condition " " << ::mace::MakeString(__VA_ARGS__)

#ifndef NDEBUG
#define MACE_ASSERT(condition, ...) MACE_CHECK(condition, __VA_ARGS__)
#else
#define MACE_ASSERT(condition, ...) ((void)0)
#endif

#define MACE_CHECK_NOTNULL(val) \
  ::mace::logging_internal::CheckNotNull(__FILE__, __LINE__, "'" #val "' must not be null", (val))

#define MACE_NOT_IMPLEMENTED MACE_CHECK(false, "not implemented")

#define MACE_CHECK_SUCCESS(stmt)                                                  \
  {                                                                               \
    const ::mace::MaceStatus mace_status = (stmt);                                \
    if (mace_status != ::mace::MaceStatus::MACE_SUCCESS)                          \
      LOG(FATAL) << #stmt << " failed with error: " << mace_status.information(); \
  }

#define MACE_RETURN_IF_ERROR(stmt)                                             \
  {                                                                            \
    const ::mace::MaceStatus mace_status = (stmt);                             \
    if (mace_status != ::mace::MaceStatus::MACE_SUCCESS) {                     \
      VLOG(0) << #stmt << " failed with error: " << mace_status.information(); \
      return mace_status;                                                      \
    }                                                                          \
  }

#define MACE_LATENCY_LOGGER_NAME_(line) mace_latency_logger_##line
#define MACE_LATENCY_LOGGER_NAME(line) MACE_LATENCY_LOGGER_NAME_(line)
#define MACE_LATENCY_LOGGER(vlog_level, ...)                                  \
  ::mace::logging_internal::LatencyLogger MACE_LATENCY_LOGGER_NAME(__LINE__)( \
      vlog_level, VLOG_IS_ON(vlog_level) ? ::mace::MakeString(__VA_ARGS__) : "")

#define MACE_MEMORY_LOGGING_GUARD()

namespace mace {
namespace logging_internal {

template <typename T>
T&& CheckNotNull(const char* file, int line, const char* text, T&& value) {
  if (value == nullptr) ::mace::port::Logger(file, line, FATAL) << text;
  return std::forward<T>(value);
}

// Says how long the block took that it stands in.
class LatencyLogger {
 public:
  LatencyLogger(int vlog_level, const std::string& message)
      : vlog_level_(vlog_level), message_(message), start_micros_(VLOG_IS_ON(vlog_level) ? NowMicros() : 0) {
    VLOG(vlog_level_) << message_ << " started";
  }
  ~LatencyLogger() { VLOG(vlog_level_) << message_ << " latency: " << NowMicros() - start_micros_ << " us"; }

 private:
  const int vlog_level_;
  const std::string message_;
  const int64_t start_micros_;

  MACE_DISABLE_COPY_AND_ASSIGN(LatencyLogger)
};

}  // namespace logging_internal
}  // namespace mace

#endif  // MACE_UTILS_LOGGING_H_
