#include "native/tools/values.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <map>

#include "native/tools/npy.h"

namespace lathe_run {
namespace {

bool WriteOne(std::FILE* file, const lathe::Tensor& tensor) {
  Array array;
  array.dtype = tensor.dtype();
  array.shape = tensor.shape();
  const char* bytes = static_cast<const char*>(tensor.bytes());
  array.bytes.assign(bytes, bytes + tensor.byte_size());
  if (array.dtype == LATHE_BF16) {
    array.dtype = LATHE_F32;
    array.bytes = WidenBf16(array.bytes);
  }
  const std::string header = NpyHeader(array);
  return std::fwrite(header.data(), 1, header.size(), file) == header.size() &&
         std::fwrite(array.bytes.data(), 1, array.bytes.size(), file) == array.bytes.size();
}

}  // namespace

std::vector<lathe::Tensor> ComputedValues(const lathe::Session& session, const lathe::Session& other) {
  std::map<std::string, const void*> elsewhere;
  for (const lathe::Tensor& tensor : other.Values()) elsewhere[tensor.name()] = tensor.bytes();
  std::vector<lathe::Tensor> computed;
  for (const lathe::Tensor& tensor : session.Values()) {
    const auto found = elsewhere.find(tensor.name());
    if (found == elsewhere.end() || found->second != tensor.bytes()) computed.push_back(tensor);
  }
  return computed;
}

std::string WriteValues(const std::vector<lathe::Tensor>& values, const std::vector<std::string>& names,
                        const std::string& path, std::vector<std::string>* written) {
  std::FILE* file = std::fopen(path.c_str(), "wb");
  if (file == nullptr) return "cannot write '" + path + "': " + std::strerror(errno);
  bool good = true;
  for (const lathe::Tensor& tensor : values) {
    if (!names.empty() && std::find(names.begin(), names.end(), tensor.name()) == names.end()) continue;
    good = good && WriteOne(file, tensor);
    written->push_back(tensor.name());
  }
  if (std::fclose(file) == 0 && good) return "";
  const std::string problem = "cannot write '" + path + "': " + std::strerror(errno);
  std::remove(path.c_str());
  return problem;
}

void DescribeValues(Json* json, const std::vector<std::string>& written) {
  json->Key("values").Open('[');
  for (const std::string& name : written) json->Text(name);
  json->Close(']');
}

}  // namespace lathe_run
