// The C++ face, without a C++ library: runs a kmodel twice, and compares.
#include <stdio.h>
#include <string.h>

#include "lathe_kpu.hpp"

namespace {

alignas(256) unsigned char file[1 << 20];
alignas(8) unsigned char main_memory[1 << 20];
alignas(8) unsigned char ram[LATHE_KPU_RAM_BYTES];
unsigned char input[1 << 20], wanted[1 << 20];
lathe_kpu_workspace workspace;

size_t ReadFile(const char* path, unsigned char* to) {
  FILE* from = fopen(path, "rb");
  if (from == nullptr) return 0;
  const size_t size = fread(to, 1, 1 << 20, from);
  fclose(from);
  return size;
}

}  // namespace

int main(int, char** arguments) {
  const lathe::KpuBytes model_file = {file, ReadFile(arguments[1], file)};
  const lathe::KpuBytes image = {input, ReadFile(arguments[2], input)};
  const size_t wanted_size = ReadFile(arguments[3], wanted);
  lathe_kpu_software software = {ram, &workspace, 1, nullptr, nullptr};
  lathe::KpuModel model;
  const size_t needed = lathe::KpuModel::MainMemory(model_file);
  if (model.Load(model_file, main_memory, needed, lathe_kpu_software_device(&software)) != LATHE_KPU_OK) return 1;
  if (image.size != model.input_size() || model.output_count() != 1) return 2;
  for (int run = 0; run < 2; ++run) {
    if (model.Run(image) != LATHE_KPU_OK || model.failed_layer() != LATHE_KPU_NO_LAYER) return 3;
    const lathe::KpuBytes output = model.output(0);
    if (output.size != wanted_size || memcmp(output.data, wanted, wanted_size) != 0) return 4;
  }
  return model.output(1).data == nullptr && model.Run({input, 1}) == LATHE_KPU_INPUT_SIZE ? 0 : 5;
}
