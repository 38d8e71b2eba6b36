// Regions: bodies of nodes inside of a node, which the node's kernel runs. Libraries without such kernels hold none of
// it.
#include "native/runtime/session.h"

namespace lathe {

RegionTensors RunContext::Region(int index) const { return regions->Tensors(static_cast<size_t>(index)); }

bool RunContext::RunRegion(int index) const { return regions->Run(static_cast<size_t>(index), false) == Code::kOk; }

bool RunContext::RunAsRegion(int index) const { return regions->Run(static_cast<size_t>(index), true) == Code::kOk; }

RegionTensors NodeRegions::Tensors(size_t index) const {
  const Region& region = session_->engine_->node(node_).node->regions[index];
  return {region.inputs, region.outputs, session_->tensors_.data()};
}

Code NodeRegions::Run(size_t index, bool observed) {
  observed_ = observed && is_observed_;
  return code_ = session_->RunRegion(node_, index, observed_, errors_);
}

// The number of the node behind `count` nodes of one region.
size_t Session::Behind(size_t first, size_t count) const {
  for (; count > 0; --count) first = engine_->node(first).end;
  return first;
}

Code Session::RunRegion(size_t node, size_t region, bool observed, const ErrorSink& errors) {
  const Span<Region> regions = engine_->node(node).node->regions;
  size_t first = node + 1;
  for (size_t i = 0; i < region; ++i) first = Behind(first, regions[i].nodes.size());
  const size_t count = regions[region].nodes.size();
  if (sizes_found_) LATHE_TRY(ForgetSizes(first, Behind(first, count), errors));
#ifdef LATHE_CHECK_MEMORY
  LATHE_TRY(CheckTaken(node, region, errors));
  KeepChecksums(regions[region].inputs);  // the kernel of the node has written them
  LATHE_TRY(RunNodes(first, count, observed, errors));
  return CheckChecksums(engine_->node(node).node->name, regions[region].outputs, errors);
#else
  return RunNodes(first, count, observed, errors);
#endif
}

// Sizes that the nodes from `first` to `end` find out go back to those that memory was planned for: a region may have
// run before.
Code Session::ForgetSizes(size_t first, size_t end, const ErrorSink& errors) {
  bool changed = false;
  for (size_t i = 0; i < finder_.size(); ++i) {
    if (finder_[i] == kNoItem || finder_[i] < first || finder_[i] >= end) continue;
    changed = changed || symbols_[i] != engine_->start_symbols()[i];
    symbols_[i] = engine_->start_symbols()[i];
  }
  return changed ? FollowSizes(first, errors) : Code::kOk;
}

}  // namespace lathe
