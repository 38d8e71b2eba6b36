// A session of a library behind a predictor: tensors in Paddle's order, in the program's types.
#ifndef PADDLE_FACE_STATE_H_
#define PADDLE_FACE_STATE_H_

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "lathe/c_api.h"
#include "lathe/elements.h"
#include "paddle/face/model.h"
#include "paddle/face/variable.h"

namespace paddle {
namespace lite_api {
namespace face {

constexpr size_t kNone = static_cast<size_t>(-1);

class State {
 public:
  explicit State(const std::shared_ptr<Model>& model) : model_(model), api_(model->api()) {
    Open();
    for (size_t i = 0; i < api_->input_count(model_->engine()); ++i) {
      const lathe_tensor_info info = InputInfo(i);
      const shape_t dims(info.dims, info.dims + info.rank);
      inputs_.push_back(
          std::make_shared<Input>(info.name, IsTurned(info.format, dims.size()) ? ToNchw(dims) : dims, info.dtype));
    }
    owner_of_.assign(inputs_.size(), kNone);
    for (size_t i = 0; i < inputs_.size(); ++i) {
      const size_t offsets = Find(inputs_[i]->name() + ".lod");
      if (offsets != kNone) owner_of_[offsets] = i;
    }
    for (size_t i = 0; i < inputs_.size(); ++i) {
      if (owner_of_[i] == kNone) shown_.push_back(i);
    }
  }
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() { Close(); }

  const std::shared_ptr<Model>& model() const { return model_; }
  uint64_t runs() const { return runs_; }

  // Inputs without the offsets of others.
  size_t shown_count() const { return shown_.size(); }
  const std::shared_ptr<Input>& shown(size_t index) const { return inputs_[shown_[index]]; }
  size_t output_count() const { return api_->output_count(model_->engine()); }
  size_t Find(const std::string& name) const {
    for (size_t i = 0; i < inputs_.size(); ++i) {
      if (inputs_[i]->name() == name) return i;
    }
    return kNone;
  }
  const std::shared_ptr<Input>& input(size_t index) const { return inputs_[index]; }

  lathe_tensor_info OutputInfo(size_t index) {
    Open();
    lathe_tensor_info info = NewInfo();
    lathe_error error = {};
    Check(api_->output_info(session_, index, &info, &error), error);
    return info;
  }
  const void* OutputData(size_t index) {
    if (runs_ == 0) return nullptr;
    lathe_error error = {};
    const void* data = nullptr;
    Check(api_->output_data(session_, index, &data, nullptr, &error), error);
    return data;
  }

  // False where there is no such value. Inner ones are kept from the first call for one of them on.
  bool Value(const std::string& name, lathe_tensor_info* info, const void** data) {
    Open();
    for (;;) {
      *info = NewInfo();
      lathe_error error = {};
      if (api_->value(session_, name.c_str(), info, data, &error) == LATHE_OK) return true;
      if (keeps_all_ || std::strncmp(error.message, "the model has no value", 22) == 0) return false;
      Close();
      keeps_all_ = true;
      Open();
      if (ran_once_) Run();
    }
  }

  void Run() {
    Open();
    Reshape();
    for (size_t i = 0; i < inputs_.size(); ++i) Feed(i);
    lathe_error error = {};
    Check(api_->run(session_, &error), error);
    ++runs_;
    ran_once_ = true;
  }

  // The next run opens it again.
  void Close() {
    if (session_ != nullptr) api_->session_destroy(session_);
    session_ = nullptr;
    runs_ = 0;
  }

  // The offsets of rows that are as many as these.
  lod_t OffsetsOf(const shape_t& shape) const {
    for (const std::shared_ptr<Input>& input : inputs_) {
      const lod_t lod = input->lod();
      if (!lod.empty() && !lod.back().empty() && !shape.empty() && lod.back().back() == static_cast<uint64_t>(shape[0]))
        return lod;
    }
    return {};
  }

 private:
  static lathe_tensor_info NewInfo() {
    lathe_tensor_info info = {};
    info.struct_size = sizeof(info);
    return info;
  }

  static void Check(lathe_code code, const lathe_error& error) {
    if (code != LATHE_OK)
      Fail(error.message[0] != 0 ? error.message : "the library reports code " + std::to_string(code));
  }

  void Open() {
    if (session_ != nullptr) return;
    lathe_session_options options = {};
    options.struct_size = sizeof(options);
    options.flags = keeps_all_ ? uint32_t{LATHE_SESSION_KEEP_ALL} : 0u;
    lathe_error error = {};
    Check(api_->session_create(model_->engine(), &options, &session_, &error), error);
    bound_.assign(api_->input_count(model_->engine()), nullptr);
  }

  lathe_tensor_info InputInfo(size_t index) const {
    lathe_tensor_info info = NewInfo();
    lathe_error error = {};
    Check(api_->input_info(session_, index, &info, &error), error);
    return info;
  }

  // The offsets of an input: what the program set, or one sequence of all rows.
  std::vector<uint64_t> Offsets(size_t owner) const {
    const lod_t lod = inputs_[owner]->lod();
    if (!lod.empty()) return lod.back();
    const shape_t shape = inputs_[owner]->shape();
    return {0, shape.empty() ? 0 : static_cast<uint64_t>(shape[0])};
  }
  bool IsMade(size_t index) const { return owner_of_[index] != kNone && inputs_[index]->given() == nullptr; }

  // Gives the session the shapes of the inputs, where they are not those that it has.
  void Reshape() {
    std::vector<lathe_shape> shapes(inputs_.size());
    bool changed = false;
    std::string given;
    for (size_t i = 0; i < inputs_.size(); ++i) {
      const lathe_tensor_info info = InputInfo(i);
      const shape_t dims(info.dims, info.dims + info.rank);
      shape_t wanted = inputs_[i]->shape();
      if (IsMade(i)) wanted = {static_cast<int64_t>(Offsets(owner_of_[i]).size())};
      if (IsTurned(info.format, wanted.size())) wanted = ToNhwc(wanted);
      changed = changed || wanted != dims;
      if (wanted != dims)
        given += (given.empty() ? "'" : ", '") + inputs_[i]->name() + "' " + Text(inputs_[i]->shape());
      shapes[i].rank = static_cast<uint32_t>(wanted.size());
      std::copy(wanted.begin(), wanted.end(), shapes[i].dims);
    }
    if (!changed) return;
    lathe_error error = {};
    if (api_->resize(session_, shapes.size(), shapes.data(), &error) != LATHE_OK)
      Fail(std::string(error.message) + " (inputs were given other shapes: " + given + ")");
    bound_.assign(bound_.size(), nullptr);
  }

  void Feed(size_t index) {
    const Input& input = *inputs_[index];
    const lathe_tensor_info info = InputInfo(index);
    if (IsMade(index)) {
      const std::vector<uint64_t> offsets = Offsets(owner_of_[index]);
      lathe::elements::Move(offsets.data(), LATHE_U64, Own(index), info.dtype,
                            lathe::elements::Straight(static_cast<int64_t>(offsets.size())), true);
      return;
    }
    if (input.given() == nullptr)
      Fail("input '" + input.name() + "' has no data: fill what mutable_data returns before Run");
    const size_t bytes = input.count() * PrecisionTypeLength(input.precision());
    if (input.given_size() < bytes)
      Fail("input '" + input.name() + "' has " + std::to_string(bytes) + " bytes, and its memory has " +
           std::to_string(input.given_size()) + ": call mutable_data after Resize");
    const shape_t shape = input.shape();
    const bool turned = IsTurned(info.format, shape.size());
    if (input.is_plain() && !turned) {
      if (bound_[index] == input.given()) return;
      lathe_error error = {};
      Check(api_->bind_input(session_, index, input.given(), bytes, &error), error);
      bound_[index] = input.given();
      return;
    }
    const lathe::elements::Walk walk = turned ? lathe::elements::Turned(shape.data(), kFromNchw)
                                              : lathe::elements::Straight(static_cast<int64_t>(input.count()));
    lathe::elements::Move(input.given(), DTypeOf(input.precision()), Own(index), info.dtype, walk, !turned);
  }

  // The session's own memory of an input.
  void* Own(size_t index) {
    lathe_error error = {};
    if (bound_[index] != nullptr) {
      Check(api_->bind_input(session_, index, nullptr, 0, &error), error);
      bound_[index] = nullptr;
    }
    void* target = nullptr;
    Check(api_->input_data(session_, index, &target, nullptr, &error), error);
    return target;
  }

  const std::shared_ptr<Model> model_;
  const lathe_api* const api_;
  lathe_session* session_ = nullptr;
  bool keeps_all_ = false;
  bool ran_once_ = false;
  uint64_t runs_ = 0;  // of this session
  std::vector<std::shared_ptr<Input>> inputs_;
  std::vector<size_t> owner_of_;  // by input: whose offsets it holds
  std::vector<size_t> shown_;
  std::vector<const void*> bound_;
};

// What a run has made.
class Result : public Variable {
 public:
  Result(const std::string& name, const std::shared_ptr<State>& state) : Variable(name), state_(state) {}

  shape_t shape() const override {
    const lathe_tensor_info info = Info();
    const shape_t dims(info.dims, info.dims + info.rank);
    return IsTurned(info.format, dims.size()) ? ToNchw(dims) : dims;
  }
  PrecisionType precision() const override { return PrecisionOf(Info().dtype); }
  const void* Data(PrecisionType type) const override {
    const void* source = Elements();
    if (source == nullptr) return nullptr;
    const lathe_tensor_info info = Info();
    if (type == PrecisionType::kUnk) type = PrecisionOf(info.dtype);
    const bool turned = IsTurned(info.format, info.rank);
    if (!turned && DTypeOf(type) == info.dtype) return source;
    if (made_ == state_->runs() && made_as_ == type) return converted_.data();
    const shape_t dims(info.dims, info.dims + info.rank);
    const size_t elements = CountOf(dims);
    void* target = converted_.Resize(elements * PrecisionTypeLength(type));
    const lathe::elements::Walk walk = turned ? lathe::elements::Turned(dims.data(), kFromNhwc)
                                              : lathe::elements::Straight(static_cast<int64_t>(elements));
    lathe::elements::Move(source, info.dtype, target, DTypeOf(type), walk, !turned);
    made_ = state_->runs();
    made_as_ = type;
    return target;
  }
  lod_t lod() const override { return state_->OffsetsOf(shape()); }

 protected:
  virtual lathe_tensor_info Info() const = 0;
  virtual const void* Elements() const = 0;
  State& state() const { return *state_; }

 private:
  const std::shared_ptr<State> state_;
  mutable Buffer converted_;
  mutable uint64_t made_ = 0;  // in which run
  mutable PrecisionType made_as_ = PrecisionType::kUnk;
};

class Output : public Result {
 public:
  Output(const std::string& name, const std::shared_ptr<State>& state, size_t index)
      : Result(name, state), index_(index) {}

 private:
  lathe_tensor_info Info() const override { return state().OutputInfo(index_); }
  const void* Elements() const override { return state().OutputData(index_); }
  const size_t index_;
};

class InnerValue : public Result {
 public:
  InnerValue(const std::string& name, const std::shared_ptr<State>& state) : Result(name, state) {}

 private:
  lathe_tensor_info Info() const override {
    lathe_tensor_info info = {};
    const void* data = nullptr;
    if (!state().Value(name(), &info, &data)) Fail("there is no value '" + name() + "'");
    return info;
  }
  const void* Elements() const override {
    lathe_tensor_info info = {};
    const void* data = nullptr;
    return state().Value(name(), &info, &data) ? data : nullptr;
  }
};

}  // namespace face
}  // namespace lite_api
}  // namespace paddle

#endif  // PADDLE_FACE_STATE_H_
