// Engines from models inside of libraries: what the generated headers share.
#ifndef MACE_FACE_FACTORY_H_
#define MACE_FACE_FACTORY_H_

#include <memory>
#include <string>
#include <vector>

#include "mace/public/mace.h"

namespace mace {

namespace face {

// A model that is known to be in a library.
inline std::shared_ptr<NetDef> NetOf(const lathe_api* api, const char* name) {
  std::unique_ptr<NetDef> net;
  FindModel(Libraries(1, api), name, &net);
  return std::shared_ptr<NetDef>(std::move(net));
}

}  // namespace face

// An engine from a model inside of one of the libraries whose headers this source file includes. Weights that are given
// are used where they are and must live as long as the engine.
static inline MaceStatus CreateMaceEngineFromCode(const std::string& model_name,
                                                  const unsigned char* model_weights_data,
                                                  const size_t model_weights_data_size,
                                                  const std::vector<std::string>& input_nodes,
                                                  const std::vector<std::string>& output_nodes,
                                                  const MaceEngineConfig& config, std::shared_ptr<MaceEngine>* engine) {
  if (engine == nullptr) return face::Refuse("'engine' is null");
  engine->reset(new MaceEngine(config));
  std::unique_ptr<NetDef> net;
  const MaceStatus status = face::FindModel(BoundLibraries(), model_name, &net);
  if (face::Failed(status)) return status;
  return (*engine)->Init(net.get(), input_nodes, output_nodes, model_weights_data,
                         static_cast<int64_t>(model_weights_data_size));
}

// The same with the weights in a file, which is mapped into memory; with an empty name, in the library.
MACE_DEPRECATED static inline MaceStatus CreateMaceEngineFromCode(
    const std::string& model_name, const std::string& model_data_file, const std::vector<std::string>& input_nodes,
    const std::vector<std::string>& output_nodes, const MaceEngineConfig& config, std::shared_ptr<MaceEngine>* engine) {
  if (engine == nullptr) return face::Refuse("'engine' is null");
  engine->reset(new MaceEngine(config));
  std::unique_ptr<NetDef> net;
  const MaceStatus status = face::FindModel(BoundLibraries(), model_name, &net);
  if (face::Failed(status)) return status;
  return (*engine)->Init(net.get(), input_nodes, output_nodes, model_data_file);
}

}  // namespace mace

#endif  // MACE_FACE_FACTORY_H_
