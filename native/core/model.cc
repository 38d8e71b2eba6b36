#include "native/core/model.h"

#include <string.h>

#include "native/core/model_reader.h"

namespace lathe {

Code ModelReader::Bad(const char* format, ...) const {
  va_list arguments;
  va_start(arguments, format);
  errors_.FailWithPrefix(Code::kBadModel, "bad model: ", format, arguments);
  va_end(arguments);
  return Code::kBadModel;
}

Code ModelReader::ReadString(const PbField& field, const char* what, const char** text) const {
  if (field.bytes.size() > kMaxName) return Bad("%s is longer than %zu bytes", what, kMaxName);
  if (!field.bytes.empty() && memchr(field.bytes.data(), 0, field.bytes.size()) != nullptr)
    return Bad("%s holds a zero byte", what);
  *text = memory_->CopyString(field.bytes);
  return *text != nullptr ? Code::kOk : errors_.OutOfMemory("the model", field.bytes.size());
}

Code ModelReader::CountMessages(PbBytes message, uint32_t number, size_t limit, const char* what, size_t* count) const {
  PbReader reader(message);
  PbField field;
  *count = 0;
  while (reader.Next(&field)) *count += field.tag == PbString(number) ? 1 : 0;
  if (!reader.ok()) return Malformed(what);
  return *count <= limit ? Code::kOk : Bad("%s holds %zu entries, the limit is %zu", what, *count, limit);
}

Code ModelReader::Read(PbBytes bytes) {
  PbReader reader(bytes);
  PbField field;
  PbBytes graph, plan;
  uint64_t version = 0;
  model_->name = "";
  model_->abi = "";
  while (reader.Next(&field)) {
    if (field.tag == PbVarint(1)) version = field.scalar;
    if (field.tag == PbString(2)) LATHE_TRY(ReadString(field, "the model's name", &model_->name));
    if (field.tag == PbString(3)) graph = field.bytes;
    if (field.tag == PbVarint(4)) model_->data_size = field.scalar;
    if (field.tag == PbString(6)) {
      plan = field.bytes;
      model_->planned = true;
    }
  }
  if (!reader.ok()) return Malformed("the file");
  if (version > kFormatVersion)
    return Bad("the format version is %llu, this library reads %u; rebuild the library with a newer Lathe",
               static_cast<unsigned long long>(version), kFormatVersion);
  if (version == 0) return Bad("the file is no Lathe model (it has no format version)");
  LATHE_TRY(ReadGraph(graph));
  LATHE_TRY(ReadFormats(bytes, 7, model_->body.inputs.size(), &model_->input_formats));
  LATHE_TRY(ReadFormats(bytes, 8, model_->body.outputs.size(), &model_->output_formats));
  if (model_->planned) LATHE_TRY(ReadPlan(plan));
  return CheckDefinitions(*model_, memory_, errors_);
}

Code ModelReader::ReadFormats(PbBytes message, uint32_t number, size_t count, Span<const char*>* formats) {
  LATHE_TRY(NewArray(count, formats));
  for (const char*& format : *formats) format = "";
  PbReader reader(message);
  PbField field;
  size_t index = 0;
  while (reader.Next(&field)) {
    if (field.tag != PbString(number)) continue;
    if (index == count) return Bad("there are more formats than the %zu tensors they belong to", count);
    LATHE_TRY(ReadString(field, "a format", &(*formats)[index++]));
  }
  return index == 0 || index == count ? Code::kOk : Bad("there are %zu formats for %zu tensors", index, count);
}

Code ModelReader::ReadGraph(PbBytes message) {
  LATHE_TRY(ReadSymbols(message));
  LATHE_TRY(ReadExprs(message));
  LATHE_TRY(ReadValues(message));
  PbReader reader(message);
  PbField field;
  PbBytes body;
  while (reader.Next(&field)) {
    if (field.tag == PbString(4)) body = field.bytes;
  }
  return ReadRegion(body, 0, &model_->body);
}

Code ModelReader::ReadSymbols(PbBytes graph) {
  size_t count = 0;
  LATHE_TRY(CountMessages(graph, 1, kMaxSymbols, "the table of symbols", &count));
  LATHE_TRY(NewArray(count, &model_->symbols));
  PbReader reader(graph);
  PbField field;
  for (size_t index = 0; reader.Next(&field);) {
    if (field.tag == PbString(1)) LATHE_TRY(ReadSymbol(field.bytes, &model_->symbols[index++]));
  }
  return Code::kOk;
}

Code ModelReader::ReadSymbol(PbBytes message, DimSymbol* symbol) {
  PbReader reader(message);
  PbField field;
  symbol->name = "";
  while (reader.Next(&field)) {
    if (field.tag == PbString(1)) LATHE_TRY(ReadString(field, "a symbol's name", &symbol->name));
    // Numbers beyond the bound become one beyond the bound, which the check below finds.
    const int64_t number = field.scalar > static_cast<uint64_t>(kUnbounded) ? -1 : static_cast<int64_t>(field.scalar);
    if (field.tag == PbVarint(2)) symbol->low = number;
    if (field.tag == PbVarint(3)) symbol->high = number;
  }
  if (!reader.ok()) return Malformed("a symbol");
  if (symbol->low < 0 || symbol->high < symbol->low)
    return Bad("the bounds of symbol '%s' are not ordered", symbol->name);
  return Code::kOk;
}

Code ModelReader::ReadExprs(PbBytes graph) {
  size_t count = 0;
  LATHE_TRY(CountMessages(graph, 2, kMaxExprs, "the table of expressions", &count));
  LATHE_TRY(NewArray(count, &model_->exprs));
  PbReader reader(graph);
  PbField field;
  for (size_t index = 0; reader.Next(&field);) {
    if (field.tag != PbString(2)) continue;
    Span<int64_t> code;
    LATHE_TRY(NewArray(PbScalars::Count(field.bytes, PbVarint(1)), &code));
    PbScalars scalars(field.bytes, PbVarint(1));
    PbField element;
    for (size_t i = 0; scalars.Next(&element);) code[i++] = element.ZigZag();
    if (!scalars.ok()) return Malformed("an expression");
    const char* wrong = CheckDimProgram(code, model_->symbols.size());
    if (wrong != nullptr) return Bad("expression %zu %s", index, wrong);
    model_->exprs[index++] = code;
  }
  return Code::kOk;
}

Code ModelReader::ReadPlan(PbBytes message) {
  size_t kernel_count = 0, placement_count = 0;
  LATHE_TRY(CountMessages(message, 2, kMaxNodes, "the plan's list of kernels", &kernel_count));
  LATHE_TRY(CountMessages(message, 3, kMaxValues, "the plan's arena", &placement_count));
  if (kernel_count != node_count_) return Bad("the plan has %zu kernels for %zu nodes", kernel_count, node_count_);
  Span<PbBytes> kernels;
  LATHE_TRY(NewArray(kernel_count, &kernels));
  LATHE_TRY(NewArray(placement_count, &model_->arena));
  PbReader reader(message);
  PbField field;
  size_t kernel = 0, placement = 0;
  while (reader.Next(&field)) {
    if (field.tag == PbString(1)) LATHE_TRY(ReadString(field, "the plan's ABI", &model_->abi));
    if (field.tag == PbString(2)) kernels[kernel++] = field.bytes;
    if (field.tag == PbString(3)) LATHE_TRY(ReadPlacement(field.bytes, &model_->arena[placement++]));
    if (field.tag == PbVarint(4)) model_->arena_size = field.scalar;
  }
  if (model_->arena_size > kMaxBytes) return Bad("the plan's arena is larger than memory can be");
  for (const Placement& place : model_->arena) {
    if (place.value >= model_->values.size()) return Bad("the plan places value %u, which does not exist", place.value);
    const Value& value = model_->values[place.value];
    if (value.constant) return Bad("the plan places value '%s', which is a constant", value.name);
    if (place.offset % kAlignment != 0 || place.size > model_->arena_size ||
        place.offset > model_->arena_size - place.size)
      return Bad("the plan places value '%s' outside of the arena or not aligned to 64", value.name);
  }
  size_t next = 0;
  return AssignKernels(&model_->body, kernels, &next);
}

Code ModelReader::ReadPlacement(PbBytes message, Placement* placement) {
  PbReader reader(message);
  PbField field;
  while (reader.Next(&field)) {
    if (field.tag == PbVarint(1))
      placement->value = field.scalar < UINT32_MAX ? static_cast<uint32_t>(field.scalar) : UINT32_MAX;
    if (field.tag == PbVarint(2)) placement->offset = field.scalar;
    if (field.tag == PbVarint(3)) placement->size = field.scalar;
  }
  return reader.ok() ? Code::kOk : Malformed("a placement");
}

Code ModelReader::AssignKernels(Region* region, Span<PbBytes> kernels, size_t* next) {
  for (Node& node : region->nodes) {
    PbReader reader(kernels[(*next)++]);
    PbField field;
    node.planned_kernel = "";
    while (reader.Next(&field)) {
      if (field.tag == PbString(1)) LATHE_TRY(ReadString(field, "a kernel's name", &node.planned_kernel));
    }
    if (!reader.ok()) return Malformed("the plan");
    for (Region& inner : node.regions) LATHE_TRY(AssignKernels(&inner, kernels, next));
  }
  return Code::kOk;
}

Code ReadModel(PbBytes bytes, MemoryArena* memory, const ErrorSink& errors, Model* model) {
  return ModelReader(memory, errors, model).Read(bytes);
}

DType DTypeFromCode(uint64_t index) {
  return index <= static_cast<uint64_t>(DType::kBool) ? static_cast<DType>(index) : DType::kNone;
}

bool EvaluateDimSpec(const Model& model, const DimSpec& dim, Span<const int64_t> symbols, int64_t* result) {
  *result = dim.size;
  return dim.expr < 0 || EvaluateDim(model.exprs[static_cast<size_t>(dim.expr)], symbols, result);
}

bool EvaluateShape(const Model& model, Span<const DimSpec> dims, DType dtype, Span<const int64_t> symbols,
                   Shape* shape) {
  *shape = Shape();
  // Empty dimensions count as 1 here, so that every partial product of a shape fits as well.
  int64_t bytes = static_cast<int64_t>(SizeOf(dtype));
  for (const DimSpec& dim : dims) {
    int64_t size = 0;
    if (!EvaluateDimSpec(model, dim, symbols, &size) || size < 0) return false;
    shape->dims[shape->rank++] = size;
    if (!MultiplyChecked(bytes, size > 0 ? size : 1, &bytes)) return false;
  }
  return static_cast<uint64_t>(bytes) <= kMaxBytes;
}

}  // namespace lathe
