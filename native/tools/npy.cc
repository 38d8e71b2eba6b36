#include "native/tools/npy.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>

namespace lathe_run {

namespace {

struct Type {
  const char* name;
  const char* descr;  // in the header of a .npy file, without the byte order
  size_t size;
};

// By the numbers of c_api.h.
constexpr Type kTypes[] = {{"none", "", 0},  {"f32", "f4", 4}, {"f16", "f2", 2}, {"bf16", "", 2},  {"f64", "f8", 8},
                           {"s8", "i1", 1},  {"u8", "u1", 1},  {"s16", "i2", 2}, {"u16", "u2", 2}, {"s32", "i4", 4},
                           {"u32", "u4", 4}, {"s64", "i8", 8}, {"u64", "u8", 8}, {"bool", "b1", 1}};
constexpr lathe_dtype kTypeCount = sizeof(kTypes) / sizeof(kTypes[0]);
constexpr size_t kMaxRank = 32;

// The text after `'key':`, without leading blanks; empty where the header lacks it.
std::string AfterKey(const std::string& header, const std::string& key) {
  for (const char quote : {'\'', '"'}) {
    const size_t at = header.find(quote + key + quote);
    if (at == std::string::npos) continue;
    const size_t colon = header.find(':', at);
    if (colon == std::string::npos) return "";
    const size_t start = header.find_first_not_of(" \t", colon + 1);
    return start == std::string::npos ? "" : header.substr(start);
  }
  return "";
}

std::string ParseType(const std::string& text, lathe_dtype* dtype) {
  if (text.size() < 5 || (text[0] != '\'' && text[0] != '"')) return "has no 'descr'";
  const size_t end = text.find(text[0], 1);
  if (end == std::string::npos || end < 3) return "has no 'descr'";
  const std::string descr = text.substr(1, end - 1);
  for (lathe_dtype code = 1; code < kTypeCount; ++code) {
    if (kTypes[code].descr != descr.substr(1)) continue;
    *dtype = code;
    const bool order = descr[0] == '<' || descr[0] == '|' || (descr[0] != '>' && kTypes[code].size == 1);
    return order || kTypes[code].size == 1 ? "" : "is big-endian: convert it with numpy's astype";
  }
  return "has the element type '" + descr + "', which no tensor has";
}

std::string ParseShape(const std::string& text, std::vector<int64_t>* shape) {
  const size_t close = text.find(')');
  if (text.empty() || text[0] != '(' || close == std::string::npos) return "has no 'shape'";
  shape->clear();
  size_t at = 1;
  while (at < close) {
    at = text.find_first_not_of(" ,", at);
    if (at == std::string::npos || at >= close) break;
    int64_t size = 0;
    const size_t start = at;
    for (; at < close && text[at] >= '0' && text[at] <= '9'; ++at) {
      if (size > INT64_MAX / 16) return "has a dimension that is too large";
      size = size * 10 + (text[at] - '0');
    }
    if (at == start || shape->size() == kMaxRank) return "has a shape that cannot be read";
    shape->push_back(size);
  }
  return "";
}

}  // namespace

size_t SizeOf(lathe_dtype dtype) { return dtype < kTypeCount ? kTypes[dtype].size : 0; }
const char* NameOf(lathe_dtype dtype) { return dtype < kTypeCount ? kTypes[dtype].name : "unknown"; }

std::string ReadFile(const std::string& path, std::vector<char>* bytes) {
  FILE* file = std::fopen(path.c_str(), "rb");
  if (file == nullptr) return "cannot open '" + path + "': " + std::strerror(errno);
  bytes->clear();
  char buffer[65536];
  size_t read = 0;
  while ((read = std::fread(buffer, 1, sizeof(buffer), file)) > 0) bytes->insert(bytes->end(), buffer, buffer + read);
  const bool failed = std::ferror(file) != 0;
  std::fclose(file);
  return failed ? "cannot read '" + path + "'" : "";
}

std::string WriteFile(const std::string& path, const std::vector<char>& bytes) {
  // Written aside and renamed, so that nobody sees half a file.
  const std::string aside = path + ".part";
  FILE* file = std::fopen(aside.c_str(), "wb");
  if (file == nullptr) return "cannot write '" + path + "': " + std::strerror(errno);
  const bool written = std::fwrite(bytes.data(), 1, bytes.size(), file) == bytes.size();
  if (std::fclose(file) != 0 || !written || std::rename(aside.c_str(), path.c_str()) != 0) {
    std::remove(aside.c_str());
    return "cannot write '" + path + "': " + std::strerror(errno);
  }
  return "";
}

std::string ReadNpy(const std::string& path, Array* array) {
  std::vector<char> bytes;
  std::string problem = ReadFile(path, &bytes);
  if (!problem.empty()) return problem;
  const auto wrong = [&](const std::string& what) { return "'" + path + "' " + what; };
  if (bytes.size() < 12 || std::memcmp(bytes.data(), "\x93NUMPY", 6) != 0) return wrong("is no .npy file");
  const auto byte = [&](size_t at) { return static_cast<size_t>(static_cast<unsigned char>(bytes[at])); };
  const size_t major = byte(6);
  if (major < 1 || major > 3) return wrong("is a .npy file of a version that is not known");
  const size_t start = major == 1 ? 10 : 12;
  size_t length = byte(8) | byte(9) << 8;
  if (major > 1) length |= byte(10) << 16 | byte(11) << 24;
  if (length > bytes.size() - start) return wrong("is cut off");
  const std::string header(bytes.data() + start, length);
  problem = ParseType(AfterKey(header, "descr"), &array->dtype);
  if (problem.empty()) problem = ParseShape(AfterKey(header, "shape"), &array->shape);
  if (problem.empty() && AfterKey(header, "fortran_order").rfind("False", 0) != 0 && array->shape.size() > 1)
    problem = "is in Fortran order: convert it with numpy's ascontiguousarray";
  if (!problem.empty()) return wrong(problem);
  const size_t left = bytes.size() - start - length;
  size_t count = SizeOf(array->dtype);
  bool empty = false;
  for (const int64_t size : array->shape) {
    empty = empty || size == 0;
    if (size != 0 && count > SIZE_MAX / 2 / static_cast<size_t>(size)) return wrong("is cut off");
    count *= size != 0 ? static_cast<size_t>(size) : 1;
  }
  if ((empty ? 0 : count) != left) return wrong("holds another number of bytes than its shape needs");
  array->bytes.assign(bytes.end() - static_cast<std::ptrdiff_t>(left), bytes.end());
  return "";
}

std::string NpyHeader(const Array& array) {
  std::string header = "{'descr': '";
  header += SizeOf(array.dtype) == 1 ? "|" : "<";
  header += std::string(kTypes[array.dtype].descr) + "', 'fortran_order': False, 'shape': (";
  for (const int64_t size : array.shape) header += std::to_string(size) + ", ";
  if (array.shape.size() > 1) header.resize(header.size() - 2);
  if (array.shape.size() == 1) header.resize(header.size() - 1);
  header += "), }";
  header.resize((10 + header.size() + 1 + 63) / 64 * 64 - 10 - 1, ' ');
  header += '\n';
  std::string start("\x93NUMPY\x01\x00", 8);
  start += static_cast<char>(header.size() & 255);
  start += static_cast<char>(header.size() >> 8);
  return start + header;
}

std::string WriteNpy(const std::string& path, const Array& array) {
  const std::string start = NpyHeader(array);
  std::vector<char> bytes(start.size() + array.bytes.size());
  std::copy(start.begin(), start.end(), bytes.begin());
  std::copy(array.bytes.begin(), array.bytes.end(), bytes.begin() + static_cast<std::ptrdiff_t>(start.size()));
  return WriteFile(path, bytes);
}

std::vector<char> WidenBf16(const std::vector<char>& halves) {
  std::vector<char> floats(halves.size() * 2);
  for (size_t i = 0; i + 1 < halves.size(); i += 2) std::memcpy(&floats[2 * i + 2], &halves[i], 2);
  return floats;
}

std::vector<char> NarrowToBf16(const std::vector<char>& floats) {
  std::vector<char> halves(floats.size() / 2);
  for (size_t i = 0; i + 3 < floats.size(); i += 4) {
    uint32_t bits;
    std::memcpy(&bits, &floats[i], 4);
    const bool nan = (bits & 0x7fffffff) > 0x7f800000;
    const uint16_t half = static_cast<uint16_t>(nan ? bits >> 16 | 0x40 : (bits + 0x7fff + (bits >> 16 & 1)) >> 16);
    std::memcpy(&halves[i / 2], &half, 2);
  }
  return halves;
}

}  // namespace lathe_run
