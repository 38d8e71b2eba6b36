#include "native/runtime/contexts.h"

#include <stdio.h>
#include <string.h>

namespace lathe {

namespace {

constexpr Tensor kNoTensor;

}  // namespace

size_t NodeView::DimsElements(const Node& node) {
  size_t count = 0;
  for (const Attr& attr : node.attrs) count += attr.dims.size();
  return count;
}

const Tensor& NodeView::Operand(Span<uint32_t> operands, int index) const {
  const size_t position = static_cast<size_t>(index);
  return position < operands.size() ? tensors_[operands[position]] : kNoTensor;
}

Code NodeView::Report(Code code, const char* format, va_list* arguments) const {
  char prefix[256];
  snprintf(prefix, sizeof(prefix), "node '%.180s' (%.60s): ", node_.name, node_.op);
  return errors_.Report(code, prefix, format, arguments);
}

#ifndef LATHE_NO_MESSAGES
Code NodeView::Fail(Code code, const char* format, ...) const {
  va_list arguments;
  va_start(arguments, format);
  Report(code, format, &arguments);
  va_end(arguments);
  return code;
}

Code Reporter::Fail(Code code, const char* format, ...) const {
  va_list arguments;
  va_start(arguments, format);
  Report(code, format, &arguments);
  va_end(arguments);
  return code;
}
#endif

Code NodeView::Find(const char* name, AttrKind kind, AttrKind other, const Attr** attr) const {
  for (const Attr& candidate : node_.attrs) {
    if (strcmp(candidate.name, name) != 0) continue;
    *attr = &candidate;
    if (candidate.kind == kind || candidate.kind == other) return Code::kOk;
    return Fail(Code::kBadModel, "attribute '%s' is of another kind than the kernel expects", name);
  }
  return Fail(Code::kBadModel, "attribute '%s' is missing", name);
}

Code NodeView::Ints(const char* name, Span<const int64_t>* values) const {
  const Attr* attr = nullptr;
  LATHE_TRY(Find(name, AttrKind::kInts, AttrKind::kDims, &attr));
  if (attr->kind == AttrKind::kInts) {
    *values = attr->ints;
    return Code::kOk;
  }
  // Every attribute has a place of its own, so that what one call returned survives the next.
  size_t place = 0;
  for (const Attr* before = node_.attrs.data(); before != attr; ++before) place += before->dims.size();
  const Span<int64_t> numbers = workspace_.subspan(place, attr->dims.size());
  for (size_t i = 0; i < numbers.size(); ++i) {
    if (!EvaluateDimSpec(model_, attr->dims[i], symbols_, &numbers[i]))
      return Fail(Code::kInvalidArgument, "element %zu of attribute '%s' has no value at this shape", i, name);
  }
  *values = numbers;
  return Code::kOk;
}

Code NodePrepare::Int(const char* name, int64_t* value) const {
  const Attr* attr = nullptr;
  LATHE_TRY(view().Find(name, AttrKind::kInt, AttrKind::kDType, &attr));
  *value = attr->i;
  return Code::kOk;
}

Code NodePrepare::Float(const char* name, float* value) const {
  const Attr* attr = nullptr;
  LATHE_TRY(view().Find(name, AttrKind::kFloat, AttrKind::kFloat, &attr));
  *value = attr->f;
  return Code::kOk;
}

Code NodePrepare::String(const char* name, Span<const char>* value) const {
  const Attr* attr = nullptr;
  LATHE_TRY(view().Find(name, AttrKind::kString, AttrKind::kString, &attr));
  *value = attr->s;
  return Code::kOk;
}

Code NodePrepare::Floats(const char* name, Span<const float>* values) const {
  const Attr* attr = nullptr;
  LATHE_TRY(view().Find(name, AttrKind::kFloats, AttrKind::kFloats, &attr));
  *values = attr->floats;
  return Code::kOk;
}

}  // namespace lathe
