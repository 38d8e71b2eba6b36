// Builds with LATHE_CHECK_MEMORY: memory is filled with a pattern before each run, a checksum of each value is kept
// when its node has run, and compared whenever a node is about to read the value. A plan that lets values overwrite
// each other, and a kernel that writes outside of its outputs or reads what nobody wrote, shows at the node where it
// does.
#ifdef LATHE_CHECK_MEMORY
#include <string.h>

#include "native/runtime/session.h"

namespace lathe {

namespace {

constexpr int kPoison = 0xA5;

uint64_t Mixed(uint64_t sum, const void* data, size_t bytes) {
  const auto* byte = static_cast<const uint8_t*>(data);
  for (size_t i = 0; i < bytes; ++i) sum = (sum ^ byte[i]) * 0x100000001b3u;
  return sum;
}

// Of the elements of a tensor, without what lies between its rows; never 0.
uint64_t ChecksumOf(const Tensor& tensor) {
  const size_t element = SizeOf(tensor.dtype);
  uint64_t sum = 0xcbf29ce484222325u;
  if (tensor.pitch == 0) {
    sum = Mixed(sum, tensor.data, static_cast<size_t>(tensor.shape.Count()) * element);
  } else {
    const int64_t width = tensor.shape[-1];
    const int64_t rows = width > 0 ? tensor.shape.Count() / width : 0;
    const auto* row = static_cast<const uint8_t*>(tensor.data);
    for (int64_t i = 0; i < rows; ++i, row += static_cast<size_t>(tensor.pitch) * element)
      sum = Mixed(sum, row, static_cast<size_t>(width) * element);
  }
  return sum | 1;
}

}  // namespace

// The memory of inputs, and of values that stand inside of them, keeps what the application wrote.
void Session::PoisonMemory() {
  for (uint64_t& sum : checksums_) sum = 0;
  for (size_t i = 0; i < items_.size(); ++i) {
    const uint32_t value = value_of_[i];
    if (tensors_[value].pitch != 0) continue;
    auto* const begin = static_cast<uint8_t*>(own_[value]);
    bool is_input = false;
    for (const uint32_t input : model_.body.inputs) {
      auto* const held = static_cast<uint8_t*>(own_[input]);
      is_input = is_input || (begin < held + BytesOf(input) && held < begin + BytesOf(value));
    }
    if (!is_input) memset(begin, kPoison, BytesOf(value));
  }
  memset(block_ + AlignUp(arena_size_), kPoison, scratch_size_);
  KeepChecksums(model_.body.inputs);
}

void Session::KeepChecksums(Span<const uint32_t> values) {
  for (const uint32_t value : values) {
    if (tensors_[value].data != nullptr) checksums_[value] = ChecksumOf(tensors_[value]);
  }
}

Code Session::CheckChecksums(const char* reader, Span<const uint32_t> values, const ErrorSink& errors) const {
  for (const uint32_t value : values) {
    if (checksums_[value] == 0 || tensors_[value].data == nullptr || ChecksumOf(tensors_[value]) == checksums_[value])
      continue;
    return errors.Fail(Code::kInternal, "value '%s' was overwritten before '%s' read it", model_.values[value].name,
                       reader);
  }
  return Code::kOk;
}

// When a node's kernel has taken what a region gave: it may have written some of it over the rest. Values that the
// region only hands on do not count; what it made is forgotten, for its memory is free now.
Code Session::CheckTaken(size_t node, size_t region, const ErrorSink& errors) {
  const Node& about = *engine_->node(node).node;
  size_t first = node + 1;
  for (size_t i = 0; i < region; ++i) first = Behind(first, about.regions[i].nodes.size());
  const size_t end = Behind(first, about.regions[region].nodes.size());
  for (const uint32_t given : about.regions[region].outputs) {
    for (size_t i = first; i < end; i = engine_->node(i).end) {
      for (const uint32_t made : engine_->node(i).node->outputs) {
        if (made != given) continue;
        LATHE_TRY(CheckChecksums(about.name, Span<const uint32_t>(&given, 1), errors));
        checksums_[given] = 0;
      }
    }
  }
  return Code::kOk;
}

}  // namespace lathe
#endif  // LATHE_CHECK_MEMORY
