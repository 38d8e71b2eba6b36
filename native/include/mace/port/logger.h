// What LOG and VLOG stand on. The environment variables MACE_CPP_MIN_LOG_LEVEL (INFO, WARNING, ERROR, FATAL or their
// first letters) and MACE_CPP_MIN_VLOG_LEVEL (a number) choose the lines that are written; both are read once.
#ifndef MACE_PORT_LOGGER_H_
#define MACE_PORT_LOGGER_H_

#include <cstdlib>
#include <cstring>
#include <sstream>
#include <string>

#include "mace/face/log.h"

namespace mace {

enum LogLevel {
  INVALID_MIN = 0,
  INFO = 1,
  WARNING = 2,
  ERROR = 3,
  FATAL = 4,
  INVALID_MAX,
};

namespace port {

inline bool LogLevelPassThreashold(const LogLevel level, const LogLevel threshold) { return level >= threshold; }
inline LogLevel LogLevelFromStr(const char* text) { return static_cast<LogLevel>(face::LevelOfText(text)); }
inline int VLogLevelFromStr(const char* text) { return text != nullptr ? std::atoi(text) : 0; }
inline LogLevel MinLogLevelFromEnv() { return static_cast<LogLevel>(face::LeastLevel()); }
inline int MinVLogLevelFromEnv() { return face::MostVerbose(); }

class LogWriter {
 public:
  LogWriter() = default;
  virtual ~LogWriter() = default;
  virtual void WriteLogMessage(const char* fname, const int line, const LogLevel severity, const char* message) {
    face::WriteLine(fname, line, severity, message);
  }
};

// Collects one line and writes it in the end. A fatal one ends the program, whatever level is wanted.
class Logger : public std::ostringstream {
 public:
  Logger(const char* fname, int line, LogLevel severity) : fname_(fname), line_(line), severity_(severity) {}
  ~Logger() {
    if (face::IsWanted(severity_)) LogWriter().WriteLogMessage(fname_, line_, severity_, str().c_str());
    if (severity_ != FATAL) return;
    std::fflush(stdout);
    std::abort();
  }

 private:
  const char* fname_;
  int line_;
  LogLevel severity_;
};

}  // namespace port

inline bool ShouldGenerateLogMessage(LogLevel severity) { return face::IsWanted(severity); }
inline bool ShouldGenerateVLogMessage(int vlog_level) { return face::IsVerbose(vlog_level); }

}  // namespace mace

#endif  // MACE_PORT_LOGGER_H_
