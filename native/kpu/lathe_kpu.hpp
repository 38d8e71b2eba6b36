// The C++ face of lathe_kpu.h: one object that holds a model on a device. Header only, C++17, no library.
#ifndef LATHE_KPU_HPP_
#define LATHE_KPU_HPP_

#include "lathe_kpu.h"

namespace lathe {

// Bytes of somebody else's.
struct KpuBytes {
  const void* data = nullptr;
  size_t size = 0;
};

class KpuModel {
 public:
  // What lathe_kpu_load asks of the main memory, or 0 where the file is not a kmodel.
  static size_t MainMemory(KpuBytes file) {
    lathe_kpu_needs needs{};
    return lathe_kpu_measure(file.data, file.size, &needs) == LATHE_KPU_OK ? needs.main_memory : 0;
  }

  KpuModel() = default;
  KpuModel(const KpuModel&) = delete;
  KpuModel& operator=(const KpuModel&) = delete;

  // `file` and `main_memory` stay in use as long as the model.
  lathe_kpu_status Load(KpuBytes file, void* main_memory, size_t main_bytes, lathe_kpu_device device) {
    return lathe_kpu_load(file.data, file.size, main_memory, main_bytes, device, &model_);
  }
  lathe_kpu_status Run(KpuBytes input) { return lathe_kpu_run(&model_, input.data, input.size); }

  size_t input_size() const { return model_.input_bytes; }
  uint32_t output_count() const { return model_.outputs; }
  // Valid until the next run; empty where there is no such output.
  KpuBytes output(uint32_t index) const {
    KpuBytes bytes;
    if (lathe_kpu_output(&model_, index, &bytes.data, &bytes.size) != LATHE_KPU_OK) return {};
    return bytes;
  }
  // The layer that the last status was about, or LATHE_KPU_NO_LAYER.
  int32_t failed_layer() const { return model_.failed_layer; }

 private:
  lathe_kpu model_{};
};

}  // namespace lathe

#endif  // LATHE_KPU_HPP_
