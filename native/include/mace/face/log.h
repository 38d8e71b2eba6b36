// Lines of the log: what they look like, and which of them the environment wants.
#ifndef MACE_FACE_LOG_H_
#define MACE_FACE_LOG_H_

#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <string>

#if defined(__ANDROID__)
// Where the program is linked with liblog, lines go there.
extern "C" int __android_log_write(int priority, const char* tag, const char* text) __attribute__((weak));
#endif

namespace mace {
namespace face {

constexpr int kInfo = 1;
constexpr int kWarning = 2;
constexpr int kError = 3;
constexpr int kFatal = 4;

// INFO, WARNING, ERROR, FATAL or their first letters, in any case; 0 for everything else.
inline int LevelOfText(const char* text) {
  static const char* const words[] = {"INFO", "WARNING", "ERROR", "FATAL"};
  std::string upper;
  for (; text != nullptr && *text != 0; ++text)
    upper += static_cast<char>(std::toupper(static_cast<unsigned char>(*text)));
  for (int level = kInfo; level <= kFatal; ++level) {
    if (upper == words[level - 1] || upper == std::string(1, words[level - 1][0])) return level;
  }
  return 0;
}

// Both are read once.
inline int LeastLevel() {
  static const int level = LevelOfText(std::getenv("MACE_CPP_MIN_LOG_LEVEL"));
  return level;
}

inline int MostVerbose() {
  static const char* const text = std::getenv("MACE_CPP_MIN_VLOG_LEVEL");
  static const int level = text != nullptr ? std::atoi(text) : 0;
  return level;
}

inline void WriteLine(const char* file, int line, int level, const char* text) {
#if defined(__ANDROID__)
  if (__android_log_write != nullptr) {
    const std::string whole = std::string(file) + ":" + std::to_string(line) + "] " + text;
    __android_log_write(level + 3, "MACE", whole.c_str());
    return;
  }
#endif
  std::printf("%c %s:%d] %s\n", "IWEF"[(level < kInfo || level > kFatal ? kInfo : level) - 1], file, line, text);
}

inline bool IsWanted(int level) { return level >= LeastLevel(); }
inline bool IsVerbose(int level) { return level <= MostVerbose() && IsWanted(kInfo); }

// Messages of the interface itself: at 1 the life of engines, at 2 the time of each node.
inline void Verbose(int level, const std::string& text) {
  if (IsVerbose(level)) WriteLine("lathe", level, kInfo, text.c_str());
}

// What a user should know although nothing has failed.
inline void Warn(const std::string& text) {
  if (IsWanted(kWarning)) WriteLine("lathe", 0, kWarning, text.c_str());
}

}  // namespace face
}  // namespace mace

#endif  // MACE_FACE_LOG_H_
