// Finds out how the launches of a part run fastest on the device of this machine, within a time.
#ifndef LATHE_OPENCL_TUNER_H_
#define LATHE_OPENCL_TUNER_H_

#include "native/opencl/planner.h"

namespace lathe {
namespace opencl {

// A node of a part, for Tuning: what it computes and of what extent, with what the part asks for.
uint64_t KeyOfNode(const Planner& planner, const ::lathe::Node& node);
uint64_t KeyOfUnit(const Unit& unit);

// Tunes what is not tuned yet of a planned part, until the time of its session is over: the work-groups of launches,
// those that take longest first; then which unit is best for nodes that several take. `better`: other units than those
// of the plan were found to be better. What goes wrong with a try is no error: the launch stays as it was.
void TunePart(const Reporter& reporter, const NodeView& region, SessionPart* part, bool* better);

}  // namespace opencl
}  // namespace lathe

#endif  // LATHE_OPENCL_TUNER_H_
