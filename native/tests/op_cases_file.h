// Files of test cases, written by tests/ops/native_cases.py. All numbers are little-endian.
//
//   case file `<name>.case`:
//     "LATHECASE"                       9 bytes
//     string kernel                     the kernel that the model's plan names
//     f64 rtol, f64 atol                |error| <= atol + rtol * max |expected|; integers and bool are exact
//     blob model, blob data             the two files of the container
//     u32 count, tensors                inputs of the graph; their shapes are given to `resize`
//     u32 count, tensors                expected outputs
//   hostile file `<name>.hostile`, and `.refused` and `.shortened`, whose models no kernel may take or keep:
//     "LATHEHOST"                       9 bytes
//     u32 count, then per model: blob model, blob data
//
//   string, blob: u64 size and bytes.  tensor: u32 dtype, u32 rank, i64 dims[rank], blob elements.
#ifndef LATHE_TESTS_OP_CASES_FILE_H_
#define LATHE_TESTS_OP_CASES_FILE_H_

#include <stdio.h>
#include <string.h>

#include <string>
#include <vector>

#include "lathe/c_api.h"

namespace lathe_test {

struct CaseTensor {
  uint32_t dtype = 0;
  lathe_shape shape = {};
  std::string bytes;
};

struct CaseFile {
  std::string kernel;
  double rtol = 0;
  double atol = 0;
  std::string model;
  std::string data;
  std::vector<CaseTensor> inputs;
  std::vector<CaseTensor> outputs;
};

struct HostileModel {
  std::string model;
  std::string data;
};

// Reads in order; `ok()` is false once something was missing.
class CaseReader {
 public:
  // All bytes at once: an emulator is slow at taking them from a stream one by one.
  explicit CaseReader(const std::string& path) {
    FILE* file = fopen(path.c_str(), "rb");
    ok_ = file != nullptr && fseek(file, 0, SEEK_END) == 0;
    const long size = ok_ ? ftell(file) : 0;
    ok_ = ok_ && size > 0 && fseek(file, 0, SEEK_SET) == 0;
    if (ok_) bytes_.resize(static_cast<size_t>(size));
    ok_ = ok_ && fread(&bytes_[0], 1, bytes_.size(), file) == bytes_.size();
    if (file != nullptr) fclose(file);
  }

  bool ok() const { return ok_; }

  void Expect(const char* magic) {
    if (Take(strlen(magic)) != magic) ok_ = false;
  }

  template <typename T>
  T Number() {
    T value = {};
    const std::string raw = Take(sizeof(T));
    if (ok_) memcpy(&value, raw.data(), sizeof(T));
    return value;
  }

  std::string Blob() { return Take(Number<uint64_t>()); }

  std::vector<CaseTensor> Tensors() {
    std::vector<CaseTensor> tensors(Number<uint32_t>());
    for (CaseTensor& tensor : tensors) {
      tensor.dtype = Number<uint32_t>();
      tensor.shape.rank = Number<uint32_t>();
      if (tensor.shape.rank > LATHE_MAX_RANK) ok_ = false;
      for (uint32_t axis = 0; ok_ && axis < tensor.shape.rank; ++axis) tensor.shape.dims[axis] = Number<int64_t>();
      tensor.bytes = Blob();
    }
    return tensors;
  }

 private:
  std::string Take(size_t size) {
    if (size > bytes_.size() - at_) ok_ = false;
    if (!ok_) return "";
    at_ += size;
    return bytes_.substr(at_ - size, size);
  }

  std::string bytes_;
  size_t at_ = 0;
  bool ok_ = true;
};

inline bool ReadCase(const std::string& path, CaseFile* file) {
  CaseReader reader(path);
  reader.Expect("LATHECASE");
  file->kernel = reader.Blob();
  file->rtol = reader.Number<double>();
  file->atol = reader.Number<double>();
  file->model = reader.Blob();
  file->data = reader.Blob();
  file->inputs = reader.Tensors();
  file->outputs = reader.Tensors();
  return reader.ok();
}

inline bool ReadHostile(const std::string& path, std::vector<HostileModel>* models) {
  CaseReader reader(path);
  reader.Expect("LATHEHOST");
  models->resize(reader.Number<uint32_t>());
  for (HostileModel& item : *models) {
    item.model = reader.Blob();
    item.data = reader.Blob();
  }
  return reader.ok();
}

// The stems of the files with this suffix in the folder $LATHE_CASES, sorted.
std::vector<std::string> CaseNames(const std::string& suffix);
// The path of one of them.
std::string CasePath(const std::string& name, const std::string& suffix);

}  // namespace lathe_test

#endif  // LATHE_TESTS_OP_CASES_FILE_H_
