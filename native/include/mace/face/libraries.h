// Which libraries a source file creates engines from. Each file has its own list: two files of one program may use
// libraries with models of the same name.
#ifndef MACE_FACE_LIBRARIES_H_
#define MACE_FACE_LIBRARIES_H_

#include <memory>
#include <string>
#include <vector>

#include "lathe/c_api.h"

namespace mace {
namespace face {

using Libraries = std::vector<const lathe_api*>;

// Puts a library onto a list, once.
struct Bind {
  Bind(Libraries& list, const lathe_api* library) {
    for (const lathe_api* known : list) {
      if (known == library) return;
    }
    list.push_back(library);
  }
};

}  // namespace face

namespace {

// Not a variable: others are bound before it would be made.
inline face::Libraries& BoundLibraries() {
  static face::Libraries libraries;
  return libraries;
}

}  // namespace

// A model without weights, as code: what CreateNet() of a generated header gives. It belongs to a library, or any one
// of a list may run it.
class NetDef {
 public:
  NetDef(const face::Libraries& libraries, lathe_bytes model, lathe_bytes data)
      : libraries_(libraries), model_(model), data_(data) {}
  // Keeps the model in memory of its own.
  NetDef(const face::Libraries& libraries, const std::string& model)
      : libraries_(libraries), copy_(std::make_shared<const std::string>(model)), data_() {
    model_.data = copy_->data();
    model_.size = copy_->size();
  }

  const face::Libraries& libraries() const { return libraries_; }
  const lathe_bytes& model() const { return model_; }
  const lathe_bytes& data() const { return data_; }  // inside of the library; empty where the data is in a file

 private:
  face::Libraries libraries_;
  std::shared_ptr<const std::string> copy_;
  lathe_bytes model_;
  lathe_bytes data_;
};

}  // namespace mace

#endif  // MACE_FACE_LIBRARIES_H_
