// What programs see of predictors and tensors.
#ifndef PADDLE_FACE_INTERFACE_H_
#define PADDLE_FACE_INTERFACE_H_

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "paddle/face/places.h"
#include "paddle/face/variable.h"

namespace paddle {
namespace lite_api {

// An input, an output or another value of a predictor. It may be asked for before a run and read after it; its numbers
// are those of the last run. The predictor may go before it.
struct LITE_API Tensor {
 public:
  explicit Tensor(const std::shared_ptr<face::Variable>& variable) : variable_(variable) {}

  // Takes effect in the next run, where all inputs have to fit together.
  void Resize(const shape_t& shape) { variable_->Resize(shape); }
  shape_t shape() const { return variable_->shape(); }

  // Null before there is something to read. Elements of another type than T are converted.
  template <typename T>
  const T* data() const {
    return static_cast<const T*>(variable_->Data(PrecisionTypeTrait<T>::Type()));
  }
  // Room for elements of this type, of the shape that was set last. They are converted in the run where the model has
  // another type.
  template <typename T>
  T* mutable_data(TargetType = TargetType::kHost) const {
    return static_cast<T*>(variable_->MutableData(PrecisionTypeTrait<T>::Type()));
  }

  // Memory of the caller, read by every run until mutable_data is called: in place where it is aligned to 64. Its
  // elements have the type of the last mutable_data or SetPrecision, or that of the model.
  void ShareExternalMemory(void* data, size_t memory_size, TargetType) { variable_->Share(data, memory_size); }

  template <typename T, TargetType type = TargetType::kHost>
  void CopyFromCpu(const T* data) {
    T* target = mutable_data<T>();
    std::memcpy(target, data, variable_->count() * sizeof(T));
  }
  template <typename T>
  void CopyToCpu(T* data) const {
    const T* source = this->data<T>();
    if (source != nullptr) std::memcpy(data, source, variable_->count() * sizeof(T));
  }

  TargetType target() const { return TargetType::kHost; }
  PrecisionType precision() const { return variable_->precision(); }
  void SetPrecision(PrecisionType precision) { variable_->SetPrecision(precision); }

  // The last level of an input `x` becomes the model's input `x.lod`, where it has one. An output whose rows are as
  // many as those of such an input has its levels.
  lod_t lod() const { return variable_->lod(); }
  void SetLoD(const lod_t& lod) { variable_->SetLoD(lod); }
  bool IsInitialized() const { return variable_->Data(PrecisionType::kUnk) != nullptr; }

  void* mutable_metal_data(void*) const { return nullptr; }

 private:
  std::shared_ptr<face::Variable> variable_;
};

template <>
inline const void* Tensor::data<void>() const {
  return variable_->Data(PrecisionType::kUnk);
}

class LITE_API PaddlePredictor {
 public:
  PaddlePredictor() = default;
  virtual ~PaddlePredictor() = default;

  virtual std::unique_ptr<Tensor> GetInput(int i) = 0;
  virtual std::unique_ptr<const Tensor> GetOutput(int i) const = 0;
  virtual void Run() = 0;

  // Another predictor of the same weights, with memory of its own.
  virtual std::shared_ptr<PaddlePredictor> Clone() = 0;
  virtual std::shared_ptr<PaddlePredictor> Clone(const std::vector<std::string>& var_names) = 0;

  // The version of Lathe that built the library.
  virtual std::string GetVersion() const = 0;

  virtual std::vector<std::string> GetInputNames() = 0;
  virtual std::vector<std::string> GetOutputNames() = 0;
  virtual std::vector<std::string> GetParamNames() = 0;
  // Null where there is no input of this name.
  virtual std::unique_ptr<Tensor> GetInputByName(const std::string& name) = 0;

  // Any value by its name, or one that it had in the source model; null where optimisation left none of it. To keep
  // inner values costs memory: it begins with the first that is asked for, which runs the model once more.
  virtual std::unique_ptr<const Tensor> GetTensor(const std::string& name) const = 0;
  virtual std::unique_ptr<Tensor> GetMutableTensor(const std::string& name) = 0;

  // Gives back all memory but weights; the next run takes it again.
  virtual bool TryShrinkMemory() = 0;

  // Writes Lathe's model: kNaiveBuffer to the file `<name>.nb`, kProtobuf to the folder.
  virtual void SaveOptimizedModel(const std::string& name, LiteModelType type = LiteModelType::kProtobuf,
                                  bool record_info = false) = 0;
  virtual void SetStream(TargetType, void*) {}
};

}  // namespace lite_api
}  // namespace paddle

#endif  // PADDLE_FACE_INTERFACE_H_
