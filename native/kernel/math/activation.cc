#include "native/kernel/math/activation.h"

namespace lathe {

Code ReadActivation(const PrepareContext& context, Activation* activation) {
  return ReadActivation(context, {"activation", "activation_alpha", "activation_beta"}, activation);
}

Code ReadActivation(const PrepareContext& context, const char* const (&names)[3], Activation* activation) {
  static constexpr const char* kWords[] = {"none",       "relu", "clip",         "sigmoid",    "tanh",
                                           "leaky_relu", "elu",  "hard_sigmoid", "hard_swish", "swish"};
  int kind = 0;
  LATHE_TRY(ReadChoice(context, names[0], kWords, &kind));
  LATHE_TRY(context.Float(names[1], &activation->alpha));
  LATHE_TRY(context.Float(names[2], &activation->beta));
  activation->kind = static_cast<ActivationKind>(kind);
  if ((lathe_activation_kinds >> kind & 1) != 0) return Code::kOk;
  return context.Fail(Code::kUnsupported, "the library holds no activation '%s'; build it with this model",
                      kWords[kind]);
}

Code RequireNoActivation(const PrepareContext& context) {
  Activation activation = {};
  LATHE_TRY(ReadActivation(context, &activation));
  if (activation.kind == ActivationKind::kNone) return Code::kOk;
  return context.Fail(Code::kUnsupported, "an activation on integers");
}

}  // namespace lathe
