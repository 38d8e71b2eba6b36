// Arrays in files: NumPy's .npy (versions 1 to 3, little-endian, C order), or raw bytes.
#ifndef LATHE_TOOLS_NPY_H_
#define LATHE_TOOLS_NPY_H_

#include <cstdint>
#include <string>
#include <vector>

#include "lathe/c_api.h"

namespace lathe_run {

struct Array {
  lathe_dtype dtype = 0;
  std::vector<int64_t> shape;
  std::vector<char> bytes;
};

// Each returns what is wrong, or nothing.
std::string ReadFile(const std::string& path, std::vector<char>* bytes);
std::string WriteFile(const std::string& path, const std::vector<char>& bytes);
std::string ReadNpy(const std::string& path, Array* array);
// The header of a .npy file.
std::string NpyHeader(const Array& array);
std::string WriteNpy(const std::string& path, const Array& array);

size_t SizeOf(lathe_dtype dtype);
const char* NameOf(lathe_dtype dtype);

// NumPy has no bf16; such tensors are f32 in files.
std::vector<char> WidenBf16(const std::vector<char>& halves);
std::vector<char> NarrowToBf16(const std::vector<char>& floats);

}  // namespace lathe_run

#endif  // LATHE_TOOLS_NPY_H_
