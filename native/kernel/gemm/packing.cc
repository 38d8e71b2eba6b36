#include "native/kernel/gemm/packing.h"

#include "native/kernel/check.h"

namespace lathe {

namespace {

// Outputs of a panel; 0 where there are no panels.
constexpr int64_t PanelWidthOf(Packing packing) {
  return packing == Packing::kPanels4 ? 4 : packing == Packing::kPanels8 ? 8 : packing == Packing::kPanels16 ? 16 : 0;
}

}  // namespace

Code ReadFilterShape(const PrepareContext& context, int rank, int64_t groups, int64_t most, FilterShape* shape) {
  const Tensor& filter = context.input(1);
  shape->panel = PanelWidthOf(filter.packing);
  LATHE_TRY(CheckRank(context, filter, shape->panel != 0 ? 6 : rank, "its filter"));
  const Shape& dims = filter.shape;
  for (int axis = 0; axis < dims.rank; ++axis) {
    if (dims[axis] < 1 || dims[axis] > most) return context.Fail(Code::kBadModel, "its filter is empty or too large");
  }
  const Shape& output = context.output(0).shape;
  shape->outputs = shape->panel == 0 ? dims[0] : output.rank > 0 ? output[-1] : 0;
  if (shape->outputs % groups != 0) return context.Fail(Code::kBadModel, "groups do not divide the outputs");
  if (shape->panel == 0) {
    shape->height = rank == 4 ? dims[1] : 1;
    shape->width = rank == 4 ? dims[2] : 1;
    shape->depth = dims[-1];
    return Code::kOk;
  }
  shape->height = dims[2];
  shape->width = dims[3];
  shape->depth = dims[4];
  const int64_t panels = (shape->outputs / groups + shape->panel - 1) / shape->panel;
  const bool fits = dims[0] == groups && dims[1] == panels && dims[5] == shape->panel;
  return fits ? Code::kOk : context.Fail(Code::kBadModel, "its packed filter does not fit its outputs");
}

}  // namespace lathe
