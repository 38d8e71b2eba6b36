// Writes model containers for tests, valid or not.
#ifndef LATHE_TESTS_CONTAINER_BUILDER_H_
#define LATHE_TESTS_CONTAINER_BUILDER_H_

#include <stdint.h>

#include <string>
#include <vector>

namespace lathe_test {

// A message in the wire format of protobuf.
class PbWriter {
 public:
  PbWriter& Varint(uint32_t number, uint64_t value);
  PbWriter& ZigZag(uint32_t number, int64_t value);
  PbWriter& Bytes(uint32_t number, const std::string& bytes);
  PbWriter& Float(uint32_t number, float value);
  PbWriter& Packed(uint32_t number, const std::vector<uint32_t>& values);
  PbWriter& PackedZigZag(uint32_t number, const std::vector<int64_t>& values);
  const std::string& bytes() const { return bytes_; }

 private:
  void Raw(uint64_t value);
  std::string bytes_;
};

// A dimension: a number, or an expression by index.
struct DimArg {
  DimArg(int size) : size(size) {}        // NOLINT: literals read best in tests
  DimArg(long size) : size(size) {}       // NOLINT
  DimArg(long long size) : size(size) {}  // NOLINT
  static DimArg Expr(uint32_t index) {
    DimArg dim(-1);
    dim.expr = static_cast<int64_t>(index);
    return dim;
  }
  std::string Encode() const;

  int64_t size;
  int64_t expr = -1;
};

// Attributes of a node.
std::string FloatAttr(const std::string& name, float value);
std::string IntAttr(const std::string& name, int64_t value);
std::string IntsAttr(const std::string& name, const std::vector<int64_t>& values);
std::string StringAttr(const std::string& name, const std::string& value);
std::string DimsAttr(const std::string& name, const std::vector<DimArg>& dims);

constexpr int64_t Push(int64_t number) { return number * 16; }
constexpr int64_t Sym(int64_t index) { return index * 16 + 1; }
constexpr int64_t kAdd = 2, kSub = 3, kMul = 4, kFloorDiv = 5, kCeilDiv = 6, kMod = 7, kMin = 8, kMax = 9;

// A node, and a region of nodes, as they are written.
std::string NodeBytes(const std::string& op, const std::string& name, const std::vector<uint32_t>& inputs,
                      const std::vector<uint32_t>& outputs, const std::vector<std::string>& attrs = {},
                      const std::vector<std::string>& regions = {});
std::string RegionBytes(const std::vector<uint32_t>& inputs, const std::vector<uint32_t>& outputs,
                        const std::vector<std::string>& nodes);

struct ScaledArg {
  uint64_t depth, width, block;
  uint32_t storage = 1;
  int64_t offset = -1;  // where the scales are, if nothing else is said
};

class ModelBuilder {
 public:
  explicit ModelBuilder(std::string name) : name_(std::move(name)) {}

  uint32_t Symbol(const std::string& name, uint32_t low, uint32_t high);
  // The bytes of a symbol, whatever they are.
  void DamagedSymbol(const std::string& bytes) { symbols_and_exprs_.Bytes(1, bytes); }
  DimArg Expr(const std::vector<int64_t>& code);
  uint32_t Value(const std::string& name, const std::vector<DimArg>& dims, uint32_t dtype = 1,
                 const std::vector<std::string>& source_names = {});
  // `bytes` lie in the data file as they are.
  uint32_t Constant(const std::string& name, const std::vector<DimArg>& dims, const std::string& bytes,
                    uint32_t dtype = 1, uint32_t storage = 1, uint32_t packing = 0);
  // f32 that is stored as whole numbers with scales; a test may set any of it wrong.
  uint32_t Scaled(const std::string& name, const std::vector<DimArg>& dims, const std::string& bytes, uint32_t storage,
                  const std::string& scales, const ScaledArg& scaled, uint32_t dtype = 1);
  uint32_t Floats(const std::string& name, const std::vector<DimArg>& dims, const std::vector<float>& values);
  uint32_t Input(uint32_t value, const std::string& format = "NONE");
  void Output(uint32_t value, const std::string& format = "NONE");
  void Node(const std::string& op, const std::string& name, const std::vector<uint32_t>& inputs,
            const std::vector<uint32_t>& outputs, const std::vector<std::string>& attrs = {},
            const std::vector<std::string>& regions = {});
  // Makes the planned form.
  void Kernel(const std::string& name);
  void Kernels(const std::vector<std::string>& names);  // of one node
  void Place(uint32_t value, uint64_t offset, uint64_t size);

  std::string Model() const;
  const std::string& data() const { return data_; }

  // What a test may set wrong.
  uint64_t version = 1;
  int64_t data_size = -1;
  uint64_t arena_size = 0;

 private:
  std::string name_;
  PbWriter symbols_and_exprs_, values_, nodes_, plan_, formats_;
  std::vector<uint32_t> inputs_, outputs_;
  uint32_t symbol_count_ = 0, expr_count_ = 0, value_count_ = 0;
  bool planned_ = false;
  std::string data_;
};

}  // namespace lathe_test

#endif  // LATHE_TESTS_CONTAINER_BUILDER_H_
