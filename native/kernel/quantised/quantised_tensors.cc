#include "native/kernel/quantised/quantised_tensors.h"

#include "native/kernel/math/activation.h"

namespace lathe {

Code ReadStored(const PrepareContext& context, const Tensor& tensor, Stored* stored) {
  const int64_t bits = 8 * static_cast<int64_t>(SizeOf(tensor.dtype));
  if (tensor.quant == nullptr || tensor.quant->axis >= 0 || bits > 16)
    return context.Fail(Code::kUnsupported, "it is not stored with one scale");
  const bool is_signed = tensor.dtype == DType::kS8 || tensor.dtype == DType::kS16;
  const int64_t low = is_signed ? -(int64_t{1} << (bits - 1)) : 0, zero = tensor.quant->zeros[0];
  if (zero < low || zero > low + (int64_t{1} << bits) - 1)
    return context.Fail(Code::kBadModel, "its zero point is out of range");
  *stored = {tensor.quant->scales[0], static_cast<int32_t>(tensor.quant->zeros[0])};
  return Code::kOk;
}

Code ReadFactor(const PrepareContext& context, float from, float to, float* factor) {
  *factor = from / to;
  if (*factor > 0.0f && *factor <= 3.4028235e38f) return Code::kOk;
  return context.Fail(Code::kUnsupported, "its scales lie too far apart");
}

Code ReadConversion(const PrepareContext& context, const Tensor& x, const Tensor& y, ByteConversion* conversion) {
  if (x.dtype != DType::kS8 || y.dtype != DType::kS8)
    return context.Fail(Code::kUnsupported, "this kernel has other element types");
  Stored from = {}, to = {};
  LATHE_TRY(ReadStored(context, x, &from));
  LATHE_TRY(ReadStored(context, y, &to));
  conversion->zero = from.zero;
  conversion->steps = WholeSteps(to.zero);
  return ReadFactor(context, from.scale, to.scale, &conversion->factor);
}

Code ReadStoredClip(const PrepareContext& context, const Stored& output, float* low, float* high) {
  Activation activation = {};
  LATHE_TRY(ReadActivation(context, &activation));
  if (activation.kind > ActivationKind::kClip) return context.Fail(Code::kUnsupported, "its activation is no clip");
  *low = static_cast<float>(-128 - output.zero);
  *high = static_cast<float>(127 - output.zero);
  const bool clip = activation.kind == ActivationKind::kClip;
  const float least = (clip ? activation.alpha : 0.0f) / output.scale, most = activation.beta / output.scale;
  if (activation.kind != ActivationKind::kNone && least > *low) *low = least < *high ? least : *high;
  if (clip && most < *high) *high = most > *low ? most : *low;
  return Code::kOk;
}

}  // namespace lathe
