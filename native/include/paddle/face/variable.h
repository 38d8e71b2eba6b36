// A tensor of a predictor: what the program has given for an input, or what a run has made of an output.
#ifndef PADDLE_FACE_VARIABLE_H_
#define PADDLE_FACE_VARIABLE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "lathe/elements.h"
#include "paddle/face/failure.h"
#include "paddle/face/memory.h"
#include "paddle/face/places.h"

namespace paddle {
namespace lite_api {

using shape_t = std::vector<int64_t>;
using lod_t = std::vector<std::vector<uint64_t>>;

namespace face {

inline size_t CountOf(const shape_t& shape) {
  size_t count = 1;
  for (const int64_t size : shape) {
    if (size < 0) return 0;
    if (size != 0 && count > SIZE_MAX / 16 / static_cast<size_t>(size)) Fail("a shape has too many elements");
    count *= static_cast<size_t>(size);
  }
  return count;
}

inline std::string Text(const shape_t& shape) {
  std::string text;
  for (const int64_t size : shape) text += (text.empty() ? "" : ",") + std::to_string(size);
  return text;
}

// Programs of Paddle have images in NCHW; a model that declares NHWC is turned around.
inline bool IsTurned(const char* format, size_t rank) { return rank == 4 && std::string(format) == "NHWC"; }

// The dimensions of the one order in the other.
inline shape_t ToNchw(const shape_t& shape) { return {shape[0], shape[3], shape[1], shape[2]}; }
inline shape_t ToNhwc(const shape_t& shape) { return {shape[0], shape[2], shape[3], shape[1]}; }

constexpr int kFromNhwc[4] = {0, 3, 1, 2};
constexpr int kFromNchw[4] = {0, 2, 3, 1};

class Variable {
 public:
  explicit Variable(const std::string& name) : name_(name) {}
  virtual ~Variable() = default;
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

  const std::string& name() const { return name_; }
  size_t count() const { return CountOf(shape()); }

  virtual shape_t shape() const = 0;
  virtual PrecisionType precision() const = 0;
  // Elements as this type, kUnk: as they are. Null where there are none.
  virtual const void* Data(PrecisionType type) const = 0;
  virtual lod_t lod() const = 0;

  virtual void Resize(const shape_t&) { Refuse("resized"); }
  virtual void* MutableData(PrecisionType type) { return const_cast<void*>(Data(type)); }
  virtual void Share(void*, size_t) { Refuse("given memory"); }
  virtual void SetPrecision(PrecisionType) { Refuse("given a type"); }
  virtual void SetLoD(const lod_t&) { Refuse("given offsets"); }

 private:
  [[noreturn]] void Refuse(const char* what) const { Fail("'" + name_ + "' is no input, and cannot be " + what); }
  const std::string name_;
};

class Input : public Variable {
 public:
  Input(const std::string& name, const shape_t& shape, lathe_dtype type)
      : Variable(name), type_(type), shape_(shape), precision_(PrecisionOf(type)) {}

  shape_t shape() const override { return shape_; }
  PrecisionType precision() const override { return precision_; }
  void Resize(const shape_t& shape) override {
    if (shape.size() > LATHE_MAX_RANK) Fail("input '" + name() + "' has too many dimensions: " + Text(shape));
    for (const int64_t size : shape) {
      if (size < 0) Fail("input '" + name() + "' has a negative dimension: " + Text(shape));
    }
    shape_ = shape;
  }

  const void* Data(PrecisionType type) const override {
    if (given() == nullptr || type == PrecisionType::kUnk || type == precision_) return given();
    const size_t elements = count();
    void* target = converted_.Resize(elements * PrecisionTypeLength(type));
    lathe::elements::Move(given(), DTypeOf(precision_), target, DTypeOf(type),
                          lathe::elements::Straight(static_cast<int64_t>(elements)), true);
    return target;
  }
  void* MutableData(PrecisionType type) override {
    if (PrecisionTypeLength(type) == 0) Fail("mutable_data of input '" + name() + "': no tensor has such elements");
    precision_ = type;
    shared_ = nullptr;
    own_.Resize(count() * PrecisionTypeLength(type));
    return own_.data();
  }
  void Share(void* data, size_t size) override {
    shared_ = data;
    shared_size_ = size;
  }
  void SetPrecision(PrecisionType precision) override {
    if (PrecisionTypeLength(precision) == 0)
      Fail("SetPrecision of input '" + name() + "': no tensor has such elements");
    precision_ = precision;
  }
  lod_t lod() const override { return lod_; }
  void SetLoD(const lod_t& lod) override { lod_ = lod; }

  // What the program gave; null where it gave nothing.
  void* given() const { return shared_ != nullptr ? shared_ : own_.data(); }
  size_t given_size() const { return shared_ != nullptr ? shared_size_ : own_.size(); }
  // Whether the model takes it as it is.
  bool is_plain() const { return DTypeOf(precision_) == type_; }

 private:
  const lathe_dtype type_;  // of the model
  shape_t shape_;
  PrecisionType precision_;
  Buffer own_;
  void* shared_ = nullptr;
  size_t shared_size_ = 0;
  lod_t lod_;
  mutable Buffer converted_;
};

}  // namespace face
}  // namespace lite_api
}  // namespace paddle

#endif  // PADDLE_FACE_VARIABLE_H_
