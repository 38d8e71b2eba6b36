#include "native/opencl/node.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "native/kernel/math/activation.h"
#include "native/opencl/planner.h"

namespace lathe {
namespace opencl {

namespace {

// In the order of ActivationKind; common.cl has the functions.
constexpr char kActivations[] = "none\0relu\0clip\0sigmoid\0tanh\0leaky_relu\0elu\0hard_sigmoid\0hard_swish\0swish\0";

}  // namespace

LaunchArgument* Launch::NewArgument(LaunchArgument::Kind kind) {
  if (argument_count_ == kMostArguments) {
    code_ = node_.Fail(Code::kUnsupported, "a launch of it has too many arguments");
    return nullptr;
  }
  LaunchArgument* made = &arguments_[argument_count_++];
  made->kind = kind;
  return made;
}

Launch& Launch::Add(DeviceTensor& tensor) {
  if (LaunchArgument* argument = NewArgument(LaunchArgument::kTensor)) argument->tensor = &tensor;
  return *this;
}

Launch& Launch::Int(int64_t value) {
  if (value < INT32_MIN || value > INT32_MAX) code_ = node_.Fail(Code::kUnsupported, "a number of it has over 32 bits");
  if (LaunchArgument* argument = NewArgument(LaunchArgument::kInt)) argument->number = static_cast<int32_t>(value);
  return *this;
}

Launch& Launch::AddInts(const int32_t* values, int count) {
  for (int i = 0; i < count; ++i) Int(values[i]);
  return *this;
}

Launch& Launch::Float(float value) {
  if (LaunchArgument* argument = NewArgument(LaunchArgument::kFloat)) argument->real = value;
  return *this;
}

void Launch::AddOption(const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  const int room = kMostOptions - option_length_;
  const int added = vsnprintf(options_ + option_length_, static_cast<size_t>(room), format, arguments);
  va_end(arguments);
  if (added < 0 || added >= room) {
    code_ = node_.Fail(Code::kUnsupported, "a launch of it has too many options");
    return;
  }
  option_length_ += added;
}

Launch& Launch::Define(const char* name, int64_t value) {
  AddOption(" -D%s=%lld", name, static_cast<long long>(value));
  return *this;
}

Launch& Launch::Activation() {
  Span<const char> word;
  float a = 0.0f, b = 0.0f;
  Code code = node_.String("activation", &word);
  if (code == Code::kOk) code = node_.Float("activation_alpha", &a);
  if (code == Code::kOk) code = node_.Float("activation_beta", &b);
  if (code != Code::kOk) {
    code_ = code;
    return *this;
  }
  int64_t kind = 0;
  for (const char* known = kActivations; *known != 0; ++kind) {
    const size_t length = strlen(known);
    if (length == word.size() && memcmp(known, word.data(), length) == 0)
      return Define("ACTIVATION", kind).Float(a).Float(b);
    known += length + 1;
  }
  code_ = node_.Fail(Code::kUnsupported, "GPU kernels do not know its activation");
  return *this;
}

Launch& Launch::Group(int32_t x, int32_t y, int32_t z) {
  group_[0] = x;
  group_[1] = y;
  group_[2] = z;
  return *this;
}

Code Launch::Enqueue(int64_t x, int64_t y, int64_t z) {
  LATHE_TRY(code_);
  return node_.planner().Add(*this, {x, y, z});
}

}  // namespace opencl
}  // namespace lathe
