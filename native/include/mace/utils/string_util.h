// Text: made of parts, cut into parts, laid out in tables.
#ifndef MACE_UTILS_STRING_UTIL_H_
#define MACE_UTILS_STRING_UTIL_H_

#include <algorithm>
#include <cctype>
#include <sstream>
#include <string>
#include <vector>

namespace mace {
namespace string_util {

inline void MakeStringInternal(std::stringstream&) {}

template <typename T, typename... Args>
void MakeStringInternal(std::stringstream& stream, const T& first, const Args&... rest) {
  stream << first;
  MakeStringInternal(stream, rest...);
}

class StringFormatter {
 public:
  // Each column as wide as its widest cell.
  static std::string Table(const std::string& title, const std::vector<std::string>& header,
                           const std::vector<std::vector<std::string>>& data) {
    if (header.empty()) return "";
    std::vector<size_t> widths;
    for (const std::string& cell : header) widths.push_back(cell.size());
    for (const auto& row : data) {
      for (size_t i = 0; i < row.size() && i < widths.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
    }
    size_t whole = widths.size() * 3 + 1;
    for (const size_t width : widths) whole += width;
    const std::string line = std::string(whole, '-') + "\n";
    std::string text = line + std::string(whole > title.size() ? (whole - title.size()) / 2 : 0, ' ') + title + "\n";
    text += line + Row(header, widths) + line;
    for (const auto& row : data) text += Row(row, widths);
    return text + line;
  }

 private:
  static std::string Row(const std::vector<std::string>& cells, const std::vector<size_t>& widths) {
    std::string text = "|";
    for (size_t i = 0; i < widths.size(); ++i) {
      const std::string cell = i < cells.size() ? cells[i] : "";
      text.append(widths[i] - cell.size() + 1, ' ');
      text += cell;
      text += " |";
    }
    return text + "\n";
  }
};

}  // namespace string_util

template <typename... Args>
std::string MakeString(const Args&... args) {
  std::stringstream stream;
  string_util::MakeStringInternal(stream, args...);
  return stream.str();
}

template <typename T>
std::string MakeListString(const T* args, size_t size) {
  std::stringstream stream;
  stream << "[";
  for (size_t i = 0; i < size; ++i) stream << (i == 0 ? "" : ", ") << args[i];
  stream << "]";
  return stream.str();
}

template <typename T>
std::string MakeString(const std::vector<T>& args) {
  return MakeListString(args.data(), args.size());
}

inline std::string MakeString(const char* text) { return text; }

inline std::string ToLower(const std::string& text) {
  std::string result(text);
  for (char& letter : result) letter = static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
  return result;
}

inline std::string ToUpper(const std::string& text) {
  std::string result(text);
  for (char& letter : result) letter = static_cast<char>(std::toupper(static_cast<unsigned char>(letter)));
  return result;
}

// The parts between delimiters, empty ones too, but for an empty last one.
inline std::vector<std::string> Split(const std::string& text, char delims) {
  std::vector<std::string> parts;
  size_t start = 0;
  for (size_t end = text.find(delims); end != std::string::npos; end = text.find(delims, start)) {
    parts.push_back(text.substr(start, end - start));
    start = end + 1;
  }
  if (start < text.size()) parts.push_back(text.substr(start));
  return parts;
}

}  // namespace mace

#endif  // MACE_UTILS_STRING_UTIL_H_
