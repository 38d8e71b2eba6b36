// MACE Micro's interface over a generated model. Data has the types of the model: `<model>.h` says which.
#ifndef LATHE_MICRO_MACE_MICRO_H_
#define LATHE_MICRO_MACE_MICRO_H_

#include <stdint.h>

namespace micro {

enum MaceStatus {
  MACE_SUCCESS = 0,
  MACE_INVALID_ARGS = 1,
  MACE_OUT_OF_RESOURCES = 2,
  MACE_UNSUPPORTED = 3,
  MACE_RUNTIME_ERROR = 4
};

struct Border {
  void* memory;
  uint32_t bytes;
  const int32_t* dims;
  int32_t dim_size;
};

class MaceMicroEngine {
 public:
  constexpr MaceMicroEngine(void (*invoke)(), const Border* inputs, uint32_t input_count, const Border* outputs,
                            uint32_t output_count)
      : invoke_(invoke), inputs_(inputs), input_count_(input_count), outputs_(outputs), output_count_(output_count) {}

  // Copies the input: running the model may overwrite it. `dims` may be null; otherwise they have to be the model's.
  MaceStatus RegisterInputData(uint32_t idx, const void* data, const int32_t* dims) {
    if (idx >= input_count_ || data == nullptr) return MACE_INVALID_ARGS;
    const Border& input = inputs_[idx];
    for (int32_t i = 0; dims != nullptr && i < input.dim_size; ++i)
      if (dims[i] != input.dims[i]) return MACE_INVALID_ARGS;
    const uint8_t* from = static_cast<const uint8_t*>(data);
    uint8_t* to = static_cast<uint8_t*>(input.memory);
    for (uint32_t i = 0; i < input.bytes; ++i) to[i] = from[i];
    return MACE_SUCCESS;
  }

  MaceStatus Run() {
    invoke_();
    return MACE_SUCCESS;
  }

  MaceStatus GetOutputData(uint32_t idx, void** data, const int32_t** dims, int32_t* dim_size) {
    if (idx >= output_count_) return MACE_INVALID_ARGS;
    const Border& output = outputs_[idx];
    if (data != nullptr) *data = output.memory;
    if (dims != nullptr) *dims = output.dims;
    if (dim_size != nullptr) *dim_size = output.dim_size;
    return MACE_SUCCESS;
  }

 private:
  void (*invoke_)();
  const Border* inputs_;
  uint32_t input_count_;
  const Border* outputs_;
  uint32_t output_count_;
};

}  // namespace micro

#endif  // LATHE_MICRO_MACE_MICRO_H_
