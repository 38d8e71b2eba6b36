// Every value of a run in one file: .npy arrays one behind the other, which numpy.load reads in turn.
#ifndef LATHE_TOOLS_VALUES_H_
#define LATHE_TOOLS_VALUES_H_

#include <string>
#include <vector>

#include "lathe/engine.h"
#include "native/tools/json.h"

namespace lathe_run {

// Inputs, inner values and outputs that a session keeps, without the constants. `other` is a second session of the same
// engine: what has the same memory in both is a constant.
std::vector<lathe::Tensor> ComputedValues(const lathe::Session& session, const lathe::Session& other);

// Those of `values` that `names` holds (all where it is empty), written in order. What is wrong, or nothing.
std::string WriteValues(const std::vector<lathe::Tensor>& values, const std::vector<std::string>& names,
                        const std::string& path, std::vector<std::string>* written);

void DescribeValues(Json* json, const std::vector<std::string>& written);

}  // namespace lathe_run

#endif  // LATHE_TOOLS_VALUES_H_
