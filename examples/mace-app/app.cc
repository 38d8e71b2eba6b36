// A program for the C++ interface of MACE 1.0. It compiles against MACE's headers and against those of a library that
// `lathe build --mace-compat` has made.
//
//   app INPUT OUTPUT MODEL.pb MODEL.data KEY      a model in files, each byte of them changed by XOR with KEY
//   app INPUT OUTPUT                              a model inside of the library (-DMODEL_GRAPH_FORMAT_CODE)
//
// INPUT and OUTPUT hold floats. A further argument GPU or HEXAGON asks for another device.
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "mace/port/env.h"
#include "mace/port/file_system.h"
#include "mace/public/mace.h"
#include "mace/utils/logging.h"
#include "mace/utils/memory.h"
#ifdef MODEL_GRAPH_FORMAT_CODE
// It declares all that mace/public/digits.h has; MACE's own two headers do not go together (GetModelSize).
#include "mace/public/mace_engine_factory.h"
#endif

namespace {

const std::vector<std::string> kInputNames = {"image"};
const std::vector<std::vector<int64_t>> kInputShapes = {{1, 8, 8, 1}};
const std::vector<std::string> kOutputNames = {"probabilities"};
const std::vector<std::vector<int64_t>> kOutputShapes = {{1, 10}};

int64_t SizeOf(const std::vector<int64_t>& shape) {
  return std::accumulate(shape.begin(), shape.end(), int64_t{1}, std::multiplies<int64_t>());
}

std::map<std::string, mace::MaceTensor> Tensors(const std::vector<std::string>& names,
                                                const std::vector<std::vector<int64_t>>& shapes) {
  std::map<std::string, mace::MaceTensor> tensors;
  for (size_t i = 0; i < names.size(); ++i) {
    std::shared_ptr<float> buffer(new float[SizeOf(shapes[i])], std::default_delete<float[]>());
    tensors[names[i]] = mace::MaceTensor(shapes[i], buffer);
  }
  return tensors;
}

#ifndef MODEL_GRAPH_FORMAT_CODE
// Stands for whatever a program does to its models between the file and the engine.
bool ReadTransformed(const char* file, unsigned char key, std::vector<unsigned char>* bytes) {
  std::unique_ptr<mace::port::ReadOnlyMemoryRegion> region =
      mace::make_unique<mace::port::ReadOnlyBufferMemoryRegion>();
  const mace::MaceStatus status = mace::GetFileSystem()->NewReadOnlyMemoryRegionFromFile(file, &region);
  if (status != mace::MaceStatus::MACE_SUCCESS) {
    LOG(ERROR) << status.information();
    return false;
  }
  const unsigned char* data = static_cast<const unsigned char*>(region->data());
  bytes->assign(data, data + region->length());
  for (unsigned char& byte : *bytes) byte = static_cast<unsigned char>(byte ^ key);
  return true;
}
#endif

}  // namespace

static mace::DeviceType DeviceOf(const std::string& word) {
  if (word == "GPU") return mace::DeviceType::GPU;
  return word == "HEXAGON" ? mace::DeviceType::HEXAGON : mace::DeviceType::CPU;
}

int main(int argc, char** argv) {
#ifdef MODEL_GRAPH_FORMAT_CODE
  const int device_argument = 3;
#else
  const int device_argument = 6;
#endif
  if (argc < device_argument) return 2;
  const mace::DeviceType device_type = DeviceOf(argc > device_argument ? argv[device_argument] : "CPU");

  mace::MaceEngineConfig config(device_type);
  if (device_type == mace::DeviceType::HEXAGON) {
    config.SetHexagonToUnsignedPD();
    config.SetHexagonPower(mace::HexagonNNCornerType::HEXAGON_NN_CORNER_TURBO, true, 100);
  }
  std::shared_ptr<mace::GPUContext> gpu_context =
      mace::GPUContextBuilder().SetStoragePath("path/to/storage").Finalize();
  config.SetGPUContext(gpu_context);
  config.SetGPUHints(mace::GPUPerfHint::PERF_NORMAL, mace::GPUPriorityHint::PRIORITY_LOW);
  mace::MaceStatus status = config.SetCPUThreadPolicy(2, mace::CPUAffinityPolicy::AFFINITY_BIG_ONLY);
  if (status != mace::MaceStatus::MACE_SUCCESS) LOG(WARNING) << "threads: " << status.information();

  std::shared_ptr<mace::MaceEngine> engine;
#ifdef MODEL_GRAPH_FORMAT_CODE
  LOG(INFO) << mace::digits::ModelName() << " " << mace::digits::ModelChecksum();
  const std::string model_name = "digits";
  status = mace::CreateMaceEngineFromCode(model_name.c_str(), nullptr, 0, kInputNames, kOutputNames, config, &engine);
#else
  const unsigned char key = static_cast<unsigned char>(std::atoi(argv[5]));
  std::vector<unsigned char> graph, weights;  // the engine reads the weights where they are
  if (!ReadTransformed(argv[3], key, &graph) || !ReadTransformed(argv[4], key, &weights)) return 1;
  status = mace::CreateMaceEngineFromProto(graph.data(), graph.size(), weights.data(), weights.size(), kInputNames,
                                           kOutputNames, config, &engine);
#endif
  if (status != mace::MaceStatus::MACE_SUCCESS) {
    LOG(ERROR) << "no engine: " << status.information();
    return 3;
  }

  std::map<std::string, mace::MaceTensor> inputs = Tensors(kInputNames, kInputShapes);
  std::map<std::string, mace::MaceTensor> outputs = Tensors(kOutputNames, kOutputShapes);
  std::ifstream in(argv[1], std::ios::binary);
  in.read(reinterpret_cast<char*>(inputs["image"].data().get()),
          static_cast<std::streamsize>(SizeOf(kInputShapes[0]) * sizeof(float)));
  MACE_CHECK(in.good(), "cannot read ", argv[1]);

  mace::RunMetadata metadata;
  status = engine->Run(inputs, &outputs, &metadata);
  if (status != mace::MaceStatus::MACE_SUCCESS) {
    LOG(ERROR) << "no result: " << status.information();
    return 1;
  }
  for (const mace::OperatorStats& op : metadata.op_stats)
    LOG(INFO) << op.type << " " << mace::MakeString(op.output_shape[0]) << " " << op.operator_name;

  std::ofstream out(argv[2], std::ios::binary);
  out.write(reinterpret_cast<const char*>(outputs["probabilities"].data().get()),
            static_cast<std::streamsize>(SizeOf(outputs["probabilities"].shape()) * sizeof(float)));
  return out.good() ? 0 : 1;
}
