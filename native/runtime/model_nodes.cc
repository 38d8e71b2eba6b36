// Regions, nodes and attributes of the model, and the check that values are defined before they are used.
#include <string.h>

#include "native/runtime/model_reader.h"

namespace lathe {

namespace {

// What is known of a value while the nodes are walked in order.
enum Definition : uint8_t { kUndefined, kVisible, kOutOfScope };

class DefinitionCheck {
 public:
  DefinitionCheck(const Model& model, const ErrorSink& errors, Span<uint8_t> states)
      : model_(model), errors_(errors), states_(states) {}

  Code Check(const Region& region, const char* owner) {
    for (const uint32_t index : region.inputs) LATHE_TRY(Define(index, owner));
    for (const Node& node : region.nodes) {
      for (const uint32_t index : node.inputs) LATHE_TRY(Use(index, node.name, false));
      for (const Region& inner : node.regions) LATHE_TRY(Check(inner, node.name));
      for (const uint32_t index : node.outputs) LATHE_TRY(Define(index, node.name));
    }
    for (const uint32_t index : region.outputs) LATHE_TRY(Use(index, owner, true));
    // What a region defines is not seen outside of it.
    for (const uint32_t index : region.inputs) states_[index] = kOutOfScope;
    for (const Node& node : region.nodes) {
      for (const uint32_t index : node.outputs) states_[index] = kOutOfScope;
    }
    return Code::kOk;
  }

 private:
  Code Define(uint32_t index, const char* owner) {
    const Value& value = model_.values[index];
    if (value.constant || states_[index] != kUndefined)
      return errors_.BadModel("'%s' defines value '%s', which is %s", owner, value.name,
                              value.constant ? "a constant" : "defined before");
    states_[index] = kVisible;
    return Code::kOk;
  }

  // Packed constants are for kernels: a region cannot give them away.
  Code Use(uint32_t index, const char* owner, bool as_result) const {
    const Value& value = model_.values[index];
    const bool fit = value.constant ? !as_result || value.packing == Packing::kNone : states_[index] == kVisible;
    if (fit) return Code::kOk;
    return errors_.BadModel("'%s' uses value '%s', which is %s", owner, value.name,
                            value.constant ? "packed" : "not defined before it");
  }

  const Model& model_;
  const ErrorSink& errors_;
  Span<uint8_t> states_;
};

}  // namespace

Code ModelReader::ReadRegion(PbBytes message, Region* region) {
  if (depth_ > kMaxRegionDepth) return BadModel("regions are nested deeper than %d", kMaxRegionDepth);
  LATHE_TRY(ReadIndices(message, 1, "a region", &region->inputs));
  LATHE_TRY(ReadIndices(message, 2, "a region", &region->outputs));
  ++depth_;
  LATHE_TRY((ReadList<Node, &ModelReader::ReadNode>(message, 3, kMaxNodes, "a region", &region->nodes)));
  --depth_;
  return Code::kOk;
}

Code ModelReader::ReadNode(PbBytes message, Node* node) {
  if (++node_count_ > kMaxNodes) return BadModel("there are more than %zu nodes", kMaxNodes);
  PbReader reader(message);
  PbField field;
  node->op = node->name = "";
  while (reader.Next(&field)) {
    if (field.tag == PbString(1)) LATHE_TRY(ReadString(field.bytes, &node->op));
    if (field.tag == PbString(2)) LATHE_TRY(ReadString(field.bytes, &node->name));
  }
  if (!reader.ok()) return Malformed("a node");
  LATHE_TRY(ReadIndices(message, 3, node->name, &node->inputs));
  LATHE_TRY(ReadIndices(message, 4, node->name, &node->outputs));
  LATHE_TRY((ReadList<Attr, &ModelReader::ReadAttr>(message, 5, kMaxAttributes, node->name, &node->attrs)));
  return ReadList<Region, &ModelReader::ReadRegion>(message, 6, kMaxOperands, node->name, &node->regions);
}

Code ModelReader::ReadIndices(PbBytes message, uint32_t number, const char* owner, Span<uint32_t>* indices) {
  LATHE_TRY(ReadScalars(message, PbVarint(number), indices));
  if (indices->size() > kMaxOperands) return BadModel("'%s' has more than %zu inputs or outputs", owner, kMaxOperands);
  for (const uint32_t index : *indices) {
    if (index >= model_->values.size()) return BadModel("'%s' names a value that does not exist", owner);
  }
  return Code::kOk;
}

Code ModelReader::ReadAttr(PbBytes message, Attr* attr) {
  PbReader reader(message);
  PbField field;
  attr->name = "";
  while (reader.Next(&field)) {
    if (field.tag == PbString(1)) {
      LATHE_TRY(ReadString(field.bytes, &attr->name));
    } else {
      LATHE_TRY(ReadAttrField(field, attr));
    }
  }
  if (!reader.ok()) return Malformed("an attribute");
  // `oneof` leaves out nothing, so an attribute without a value is one of a newer kind.
  return attr->kind != AttrKind::kNone ? Code::kOk : BadModel("attribute '%s' has no known kind", attr->name);
}

Code ModelReader::ReadAttrField(const PbField& field, Attr* attr) {
  if (field.tag == PbVarint(2)) {
    attr->kind = AttrKind::kInt;
    attr->i = field.ZigZag();
  } else if (field.tag == PbFixed32(3)) {
    attr->kind = AttrKind::kFloat;
    attr->f = field.Float();
  } else if (field.tag == PbString(4)) {
    const char* text = nullptr;
    LATHE_TRY(ReadString(field.bytes, &text));
    attr->kind = AttrKind::kString;
    attr->s = Span<const char>(text, field.bytes.size());
  } else if (field.tag == PbString(5)) {
    attr->kind = AttrKind::kInts;
    LATHE_TRY(ReadScalars(field.bytes, PbVarint(1), &attr->ints));
  } else if (field.tag == PbString(6)) {
    attr->kind = AttrKind::kFloats;
    LATHE_TRY(ReadScalars(field.bytes, PbFixed32(1), &attr->floats));
  } else if (field.tag == PbString(7)) {
    attr->kind = AttrKind::kStrings;  // no kernel reads strings yet
  } else if (field.tag == PbString(8)) {
    attr->kind = AttrKind::kDims;
    LATHE_TRY(ReadDims(field.bytes, 1, attr->name, kMaxAttributeElements, &attr->dims));
  } else if (field.tag == PbVarint(9)) {
    attr->kind = AttrKind::kDType;
    if (DTypeFromCode(field.scalar) == DType::kNone) return BadModel("attribute '%s' is no element type", attr->name);
    attr->i = static_cast<int64_t>(field.scalar);
  }
  return Code::kOk;
}

Code CheckDefinitions(const Model& model, MemoryArena* memory, const ErrorSink& errors) {
  Span<uint8_t> states;
  if (!memory->NewArray(model.values.size(), &states)) return errors.OutOfMemory("the model", model.values.size());
  return DefinitionCheck(model, errors, states).Check(model.body, model.name);
}

}  // namespace lathe
