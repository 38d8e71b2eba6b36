// Writes JSON; the caller keeps the order of calls sensible.
#ifndef LATHE_TOOLS_JSON_H_
#define LATHE_TOOLS_JSON_H_

#include <cstdint>
#include <string>

namespace lathe_run {

class Json {
 public:
  Json& Open(char bracket);
  Json& Close(char bracket);
  Json& Key(const char* name);
  Json& Text(const std::string& text);
  Json& Number(int64_t number);
  const std::string& text() const { return text_; }

 private:
  void Separate();
  std::string text_;
  bool first_ = true;
};

}  // namespace lathe_run

#endif  // LATHE_TOOLS_JSON_H_
