#include "native/tools/json.h"

#include <cstdio>

namespace lathe_run {

void Json::Separate() {
  if (!first_) text_ += ", ";
  first_ = false;
}

Json& Json::Open(char bracket) {
  Separate();
  text_ += bracket;
  first_ = true;
  return *this;
}

Json& Json::Close(char bracket) {
  text_ += bracket;
  first_ = false;
  return *this;
}

Json& Json::Key(const char* name) {
  Text(name);
  text_ += ": ";
  first_ = true;
  return *this;
}

Json& Json::Text(const std::string& text) {
  Separate();
  text_ += '"';
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      text_ += '\\';
      text_ += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      char escaped[8];
      std::snprintf(escaped, sizeof(escaped), "\\u%04x", c);
      text_ += escaped;
    } else {
      text_ += c;
    }
  }
  text_ += '"';
  return *this;
}

Json& Json::Number(int64_t number) {
  Separate();
  text_ += std::to_string(number);
  return *this;
}

}  // namespace lathe_run
