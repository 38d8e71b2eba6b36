#include "native/runtime/packed_constants.h"

#include "native/runtime/engine.h"

namespace lathe {

Code LoadPackedConstants(Engine* engine, const Node& node, const KernelDef& kernel) {
  const Span<Value> values = engine->model_.values;
  const Span<Tensor> tensors = engine->tensors_;
  // Devices read constants of the nodes in their regions.
  for (size_t i = 0; kernel.takes_regions && i < values.size(); ++i) {
    if (values[i].constant && tensors[i].data == nullptr) LATHE_TRY(engine->LoadConstant(values[i], &tensors[i]));
  }
  if (node.inputs.size() < 2) return Code::kOk;
  const Value& value = values[node.inputs[1]];
  Tensor* tensor = &tensors[node.inputs[1]];
  if (!value.constant || tensor->data != nullptr) return Code::kOk;
  if (kernel.reads_stored != value.storage || value.storage == value.dtype) return engine->LoadConstant(value, tensor);
  Span<StoredNumbers> made;
  if (!engine->memory_.NewArray(1, &made)) return engine->errors_.OutOfMemory(value.name, sizeof(StoredNumbers));
  const auto count = static_cast<size_t>(tensor->shape.Count());
  const auto* data = static_cast<const uint8_t*>(engine->data_.data);
  made[0] = {value.storage, data + value.offset, nullptr, DType::kNone, 0, 0, 0};
  if (!value.scaled.empty()) {
    const auto expand = GetRegistry().expand_scaled;
    if (expand == nullptr) return engine->LoadConstant(value, tensor);  // which says why not
    LATHE_TRY(expand(value, engine->data_, engine->errors_, Span<float>(nullptr, count), &made[0]));
  }
  tensor->stored = &made[0];
  engine->weights_mapped_ += count * SizeOf(value.storage) / (value.storage == DType::kU8 ? 2 : 1);
  return Code::kOk;
}

}  // namespace lathe
