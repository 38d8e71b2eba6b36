#include "native/runtime/model.h"

#include <string.h>

#include "native/runtime/model_reader.h"

namespace lathe {

Code ModelReader::Malformed(const char* what) const { return BadModel("%s is cut off or malformed", what); }

Code ModelReader::OutOfMemory() const { return Fail(Code::kOutOfMemory, "out of memory for the model"); }

Code ModelReader::ReadString(PbBytes bytes, const char** text) {
  if (bytes.size() > kMaxName) return BadModel("a name is longer than %zu bytes", kMaxName);
  if (!bytes.empty() && memchr(bytes.data(), 0, bytes.size()) != nullptr) return BadModel("a name holds a zero byte");
  *text = memory_->CopyString(bytes);
  return *text != nullptr ? Code::kOk : OutOfMemory();
}

Code ModelReader::ReadMessages(PbBytes message, uint32_t tag, Code (*read_one)(ModelReader*, PbBytes, void*),
                               List* list) {
  PbField field;
  size_t count = 0;
  PbReader counter(message);
  while (counter.Next(&field)) count += field.tag == tag ? 1 : 0;
  if (!counter.ok()) return Malformed(list->what);
  if (count > list->limit) return BadModel("%s holds %zu entries, the limit is %zu", list->what, count, list->limit);
  list->elements = memory_->NewElements(count, list->element_size);
  if (list->elements.data() == nullptr) return OutOfMemory();
  uint8_t* element = list->elements.data();
  for (PbReader reader(message); reader.Next(&field);) {
    if (field.tag != tag) continue;
    LATHE_TRY(read_one(this, field.bytes, element));
    element += list->element_size;
  }
  return Code::kOk;
}

Code ModelReader::ReadScalars(PbBytes message, uint32_t tag, size_t element_size, Span<uint8_t>* scalars) {
  *scalars = memory_->NewElements(PbScalars::Count(message, tag), element_size);
  if (scalars->data() == nullptr) return OutOfMemory();
  PbScalars reader(message, tag);
  PbField field;
  for (uint8_t* element = scalars->data(); reader.Next(&field); element += element_size) {
    const uint32_t small = field.scalar > UINT32_MAX ? UINT32_MAX : static_cast<uint32_t>(field.scalar);
    const int64_t large = field.ZigZag();
    memcpy(element, element_size == sizeof(small) ? static_cast<const void*>(&small) : &large, element_size);
  }
  return reader.ok() ? Code::kOk : Malformed("a list of numbers");
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
    if (field.tag == PbString(2)) LATHE_TRY(ReadString(field.bytes, &model_->name));
    if (field.tag == PbString(3)) graph = field.bytes;
    if (field.tag == PbVarint(4)) model_->data_size = field.scalar;
    if (field.tag == PbString(6)) {
      plan = field.bytes;
      model_->planned = true;
    }
    if (field.tag == PbString(15)) model_->weights = field.bytes;
  }
  if (!reader.ok()) return Malformed("the file");
  if (version > kFormatVersion)
    return BadModel("the format version is %llu, this library reads %u; rebuild the library with a newer Lathe",
                    static_cast<unsigned long long>(version), kFormatVersion);
  if (version == 0) return BadModel("the file is no Lathe model (it has no format version)");
  LATHE_TRY(ReadGraph(graph));
  model_->node_count = node_count_;
  LATHE_TRY(ReadFormats(bytes, 7, model_->body.inputs.size(), &model_->input_formats));
  LATHE_TRY(ReadFormats(bytes, 8, model_->body.outputs.size(), &model_->output_formats));
  if (model_->planned) LATHE_TRY(ReadPlan(plan));
  return CheckDefinitions(*model_, memory_, *this);
}

Code ModelReader::ReadFormats(PbBytes message, uint32_t number, size_t count, Span<const char*>* formats) {
  LATHE_TRY((ReadList<const char*, &ModelReader::ReadString>(message, number, count, "the list of formats", formats)));
  if (formats->size() == count) return Code::kOk;
  if (!formats->empty()) return BadModel("there are %zu formats for %zu tensors", formats->size(), count);
  LATHE_TRY(NewArray(count, formats));
  for (const char*& format : *formats) format = "";
  return Code::kOk;
}

Code ModelReader::ReadGraph(PbBytes message) {
  LATHE_TRY((ReadList<DimSymbol, &ModelReader::ReadSymbol>(message, 1, kMaxSymbols, "the table of symbols",
                                                           &model_->symbols)));
  LATHE_TRY((
      ReadList<DimProgram, &ModelReader::ReadExpr>(message, 2, kMaxExprs, "the table of expressions", &model_->exprs)));
  LATHE_TRY((ReadList<Value, &ModelReader::ReadValue>(message, 3, kMaxValues, "the table of values", &model_->values)));
  PbReader reader(message);
  PbField field;
  PbBytes body;
  while (reader.Next(&field)) {
    if (field.tag == PbString(4)) body = field.bytes;
  }
  return ReadRegion(body, &model_->body);
}

Code ModelReader::ReadSymbol(PbBytes message, DimSymbol* symbol) {
  PbReader reader(message);
  PbField field;
  symbol->name = "";
  while (reader.Next(&field)) {
    if (field.tag == PbString(1)) LATHE_TRY(ReadString(field.bytes, &symbol->name));
    // Numbers beyond the bound become -1, which the check below finds.
    const int64_t number = field.scalar > static_cast<uint64_t>(kUnbounded) ? -1 : static_cast<int64_t>(field.scalar);
    if (field.tag == PbVarint(2)) symbol->low = number;
    if (field.tag == PbVarint(3)) symbol->high = number;
  }
  if (!reader.ok()) return Malformed("a symbol");
  if (symbol->low < 0 || symbol->high < symbol->low)
    return BadModel("the bounds of symbol '%s' are not ordered", symbol->name);
  return Code::kOk;
}

Code ModelReader::ReadExpr(PbBytes message, DimProgram* expr) {
  Span<int64_t> code;
  LATHE_TRY(ReadScalars(message, PbVarint(1), &code));
  *expr = code;
  const char* wrong = CheckDimProgram(code, model_->symbols.size());
  return wrong == nullptr ? Code::kOk : BadModel("a dimension's expression %s", wrong);
}

Code ModelReader::ReadPlan(PbBytes message) {
  Span<Span<const char*>> kernels;
  LATHE_TRY((ReadList<Span<const char*>, &ModelReader::ReadNodePlan>(message, 2, kMaxNodes, "the plan", &kernels)));
  LATHE_TRY((ReadList<Placement, &ModelReader::ReadPlacement>(message, 3, kMaxValues, "the plan", &model_->arena)));
  if (kernels.size() != node_count_)
    return BadModel("the plan has %zu entries for %zu nodes", kernels.size(), node_count_);
  PbReader reader(message);
  PbField field;
  while (reader.Next(&field)) {
    if (field.tag == PbString(1)) LATHE_TRY(ReadString(field.bytes, &model_->abi));
    if (field.tag == PbVarint(4)) model_->arena_size = field.scalar;
  }
  if (model_->arena_size > kMaxBytes) return BadModel("the plan's arena is larger than memory can be");
  for (const Placement& place : model_->arena) {
    if (place.value >= model_->values.size())
      return BadModel("the plan places value %u, which does not exist", place.value);
    const Value& value = model_->values[place.value];
    if (value.constant) return BadModel("the plan places value '%s', which is a constant", value.name);
    if (place.size > model_->arena_size || place.offset > model_->arena_size - place.size)
      return BadModel("the plan places value '%s' outside of the arena", value.name);
  }
  const Span<const char*>* next = kernels.data();
  AssignKernels(&model_->body, &next);
  return Code::kOk;
}

Code ModelReader::ReadNodePlan(PbBytes message, Span<const char*>* kernels) {
  LATHE_TRY(
      (ReadList<const char*, &ModelReader::ReadString>(message, 1, kMaxPlannedKernels, "the plan of a node", kernels)));
  return kernels->empty() ? BadModel("the plan names no kernel for a node") : Code::kOk;
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

// The plan has as many entries as there are nodes, in the order of this walk.
void ModelReader::AssignKernels(Region* region, const Span<const char*>** next) {
  for (Node& node : region->nodes) {
    node.planned_kernels = *(*next)++;
    for (Region& inner : node.regions) AssignKernels(&inner, next);
  }
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

int64_t BareSymbol(const Model& model, const DimSpec& dim) {
  if (dim.expr < 0) return -1;
  const DimProgram program = model.exprs[static_cast<size_t>(dim.expr)];
  const bool bare = program.size() == 1 && (program[0] & 15) == static_cast<int64_t>(DimOpcode::kSymbol);
  return bare ? program[0] >> 4 : -1;
}

}  // namespace lathe
