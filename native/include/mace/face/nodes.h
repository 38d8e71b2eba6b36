// What MACE's statistics say of a node, from what a library says of it.
#ifndef MACE_FACE_NODES_H_
#define MACE_FACE_NODES_H_

#include <cstring>
#include <string>
#include <vector>

#include "lathe/c_api.h"
#include "mace/face/interface.h"

namespace mace {
namespace face {

// MACE's word for an operator; Lathe's own where MACE has none that means the same.
inline const char* TypeOf(const char* op) {
  static const char* const known[][2] = {
      {"abs", "Eltwise"},
      {"add", "Eltwise"},
      {"argmax", "ArgMax"},
      {"argmin", "ArgMax"},
      {"avg_pool2d", "Pooling"},
      {"batch_norm", "BatchNorm"},
      {"cast", "Cast"},
      {"clip", "Eltwise"},
      {"concat", "Concat"},
      {"conv2d", "Conv2D"},
      {"cumsum", "Cumsum"},
      {"deconv2d", "Deconv2D"},
      {"depth_to_space", "DepthToSpace"},
      {"div", "Eltwise"},
      {"dwconv2d", "DepthwiseConv2d"},
      {"elu", "Activation"},
      {"equal", "Eltwise"},
      {"fully_connected", "FullyConnected"},
      {"gather", "Gather"},
      {"group_norm", "GroupNorm"},
      {"hard_sigmoid", "Activation"},
      {"identity", "Identity"},
      {"leaky_relu", "Activation"},
      {"lrn", "LocalResponseNorm"},
      {"matmul", "MatMul"},
      {"max_pool2d", "Pooling"},
      {"maximum", "Eltwise"},
      {"minimum", "Eltwise"},
      {"mul", "Eltwise"},
      {"neg", "Eltwise"},
      {"one_hot", "OneHot"},
      {"pad", "Pad"},
      {"pow", "Eltwise"},
      {"prelu", "Activation"},
      {"reduce_max", "Reduce"},
      {"reduce_mean", "Reduce"},
      {"reduce_min", "Reduce"},
      {"reduce_prod", "Reduce"},
      {"reduce_sum", "Reduce"},
      {"relu", "Activation"},
      {"reshape", "Reshape"},
      {"sigmoid", "Activation"},
      {"slice", "StridedSlice"},
      {"softmax", "Softmax"},
      {"space_to_depth", "SpaceToDepth"},
      {"split", "Split"},
      {"sub", "Eltwise"},
      {"tanh", "Activation"},
      {"tile", "Tile"},
      {"transpose", "Transpose"},
      {"where", "Where"},
  };
  for (const auto& pair : known) {
    if (std::strcmp(pair[0], op) == 0) return pair[1];
  }
  return op;
}

// Asks a library about the nodes of one engine.
class Nodes {
 public:
  Nodes(const lathe_api* api, const lathe_engine* engine, const lathe_session* session)
      : api_(api), engine_(engine), session_(session) {}

  // A library that is older than this interface tells the name and the operator alone.
  void Describe(const lathe_node_event& event, OperatorStats* stats) const {
    stats->operator_name = event.name;
    stats->type = TypeOf(event.op);
    stats->args.padding_type = -1;
    stats->stats.start_micros = event.start_ns / 1000;
    stats->stats.end_micros = event.end_ns / 1000;
    lathe_node_info node = {};
    node.struct_size = sizeof(node);
    if (api_->struct_size < sizeof(lathe_api) || api_->node_at(engine_, event.index, &node, nullptr) != LATHE_OK)
      return;
    for (size_t i = 0; i < node.output_count; ++i) stats->output_shape.push_back(ShapeOf(node.outputs[i]));
    DescribeWindow(event.index, &stats->args);
    stats->args.kernels = KernelsOf(event.index, node, stats->output_shape);
  }

 private:
  std::vector<int64_t> ShapeOf(uint32_t value) const {
    lathe_tensor_info info = {};
    info.struct_size = sizeof(info);
    const void* data = nullptr;
    if (api_->value_at(session_, value, &info, &data, nullptr) != LATHE_OK) return std::vector<int64_t>();
    return std::vector<int64_t>(info.dims, info.dims + info.rank);
  }

  std::vector<int64_t> Numbers(uint32_t node, const char* attribute) const {
    size_t count = 0;
    const int64_t* numbers = api_->node_numbers(engine_, node, attribute, &count);
    return numbers != nullptr ? std::vector<int64_t>(numbers, numbers + count) : std::vector<int64_t>();
  }

  void DescribeWindow(uint32_t node, ConvPoolArgs* args) const {
    const std::vector<int64_t> pads = Numbers(node, "pads");  // top, left, bottom, right
    if (pads.size() != 4) return;
    for (size_t i = 0; i < 2; ++i) args->paddings.push_back(static_cast<int>(pads[i] + pads[i + 2]));
    for (const int64_t stride : Numbers(node, "strides")) args->strides.push_back(static_cast<int>(stride));
    for (const int64_t dilation : Numbers(node, "dilations")) args->dilations.push_back(static_cast<int>(dilation));
  }

  // The filter as MACE counts it, so that its rules for counting multiplications hold.
  std::vector<int64_t> KernelsOf(uint32_t index, const lathe_node_info& node,
                                 const std::vector<std::vector<int64_t>>& outputs) const {
    using Sizes = std::vector<int64_t>;
    const std::string op = node.op;
    if (op == "max_pool2d" || op == "avg_pool2d") return Numbers(index, "kernel");
    if (node.input_count < 2 || outputs.empty() || outputs[0].empty()) return Sizes();
    const Sizes filter = ShapeOf(node.inputs[1]);
    const int64_t made = outputs[0].back();
    if (op == "conv2d" || op == "deconv2d" || op == "fully_connected") {
      if (filter.size() == 6) return Sizes{made, filter[4], filter[2], filter[3]};  // panels
      if (filter.size() == 2) return Sizes{made, filter[1], 1, 1};
      if (filter.size() != 4) return Sizes();
      if (IsNamed(node.inputs[1], ".winograd4_7x7")) return Sizes{made, filter[2] / 4, 7, 7};
      if (IsNamed(node.inputs[1], ".winograd")) return Sizes{made, filter[2], 3, 3};
      return Sizes{made, filter[3], filter[1], filter[2]};
    }
    if (op == "dwconv2d" && filter.size() == 3) {
      const Sizes input = ShapeOf(node.inputs[0]);
      const int64_t channels = input.empty() || input.back() == 0 ? 1 : input.back();
      return Sizes{filter[2] / channels, channels, filter[0], filter[1]};
    }
    if (op == "matmul") return ShapeOf(node.inputs[0]);
    return Sizes();
  }

  bool IsNamed(uint32_t value, const char* part) const {
    lathe_tensor_info info = {};
    info.struct_size = sizeof(info);
    const void* data = nullptr;
    return api_->value_at(session_, value, &info, &data, nullptr) == LATHE_OK &&
           std::strstr(info.name, part) != nullptr;
  }

  const lathe_api* api_;
  const lathe_engine* engine_;
  const lathe_session* session_;
};

}  // namespace face
}  // namespace mace

#endif  // MACE_FACE_NODES_H_
