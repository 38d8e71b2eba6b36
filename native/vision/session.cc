#include "native/vision/session.h"

#include "native/runtime/clock.h"
#include "native/runtime/handles.h"
#include "native/runtime/session.h"

namespace lathe {
namespace vision {
namespace {

Session* SessionOf(const lathe_session* handle, const ErrorSink& errors) {
  Session* session = static_cast<Session*>(FindHandle(Kind::kSession, handle));
  if (session == nullptr)
    errors.Fail(Code::kInvalidArgument,
                handle == nullptr ? "the session is NULL" : "this session was destroyed, or never created");
  return session;
}

const InputImage* FindImage(const char* input) {
  for (const InputImage& image : input_images) {
    if (strcmp(image.input, input) == 0) return &image;
  }
  return nullptr;
}

lathe_view ViewOf(const InputImage& image, const int32_t* part) {
  const int32_t* crop = part != nullptr ? part : image.crop;
  lathe_view view = {sizeof(view), crop[0],        crop[1],    crop[2],   crop[3],
                     image.filter, image.rotation, image.flip, image.fit, {}};
  memcpy(view.fill, image.fill, sizeof(view.fill));
  return view;
}

lathe_elements ElementsOf(const InputImage& image, const lathe_tensor_info& info, const Quant* quant) {
  lathe_elements elements = {};
  elements.struct_size = sizeof(elements);
  elements.dtype = info.dtype;
  elements.order = image.order;
  elements.planes = strcmp(info.format, "NCHW") == 0 ? 1 : 0;
  memcpy(elements.mean, image.mean, sizeof(elements.mean));
  memcpy(elements.scale, image.scale, sizeof(elements.scale));
  if (quant != nullptr) {
    elements.quantum = quant->scales[0];
    elements.zero_point = static_cast<int32_t>(quant->zeros[0]);
  }
  return elements;
}

// The input is one image, of as many channels as the deployment says.
Code CheckInput(const lathe_tensor_info& info, const InputImage& image, const Quant* quant, const ErrorSink& errors) {
  const bool planes = strcmp(info.format, "NCHW") == 0;
  const bool known = planes || strcmp(info.format, "NHWC") == 0;
  const int64_t channels = info.rank == 4 ? info.dims[planes ? 1 : 3] : 0;
  if (!known || channels != ChannelsOf(image.order) || info.dims[0] != 1)
    return errors.Fail(Code::kUnsupported, "the input '%s' is not one image of %d channels in the format NHWC or NCHW",
                       info.name, ChannelsOf(image.order));
  if (quant != nullptr && (quant->axis >= 0 || quant->bits != 8))
    return errors.Fail(Code::kUnsupported, "the input '%s' is not quantised as one to 8 bits", info.name);
  return Code::kOk;
}

Code Fill(Session* session, size_t input, const lathe_image* image, const int32_t* part, lathe_placement* placement,
          const ErrorSink& errors) {
  lathe_tensor_info info = {};
  info.struct_size = sizeof(info);
  LATHE_TRY(session->InputInfo(input, &info, errors));
  const InputImage* how = FindImage(info.name);
  if (how == nullptr)
    return errors.Fail(Code::kUnsupported, "the deployment of this library has no 'preprocess' for the input '%s'",
                       info.name);
  const Model& model = session->engine().model();
  const Quant* quant = model.values[model.body.inputs[input]].quant;
  LATHE_TRY(CheckInput(info, *how, quant, errors));
  const lathe_view view = ViewOf(*how, part);
  const lathe_elements elements = ElementsOf(*how, info, quant);
  const int down = elements.planes != 0 ? 2 : 1;
  void* data = nullptr;
  size_t bytes = 0;
  LATHE_TRY(session->InputData(input, &data, &bytes, errors));
  const int64_t start = NowNanoseconds();
  const TensorCall call = {
      image, &view, &elements, static_cast<int>(info.dims[down + 1]), static_cast<int>(info.dims[down]),
      data,  bytes, placement};
  LATHE_TRY(FillTensor(call, held_parts, errors));
  LATHE_TRY(session->BindInput(input, nullptr, 0, errors));  // the session reads its own memory
  session->Tell({sizeof(lathe_node_event), LATHE_NO_NODE, "image", info.name, "to_tensor", start, NowNanoseconds()});
  return Code::kOk;
}

}  // namespace

lathe_code SetImage(lathe_session* session, size_t input, const lathe_image* image, const int32_t part[4],
                    lathe_placement* placement, lathe_error* error) {
  const ErrorSink errors = Begin(error);
  Session* own = SessionOf(session, errors);
  if (own == nullptr) return LATHE_INVALID_ARGUMENT;
  return Public(Fill(own, input, image, part, placement, errors));
}

lathe_code RunImage(lathe_session* session, size_t input, const lathe_image* image, const int32_t part[4],
                    lathe_placement* placement, lathe_error* error) {
  const ErrorSink errors = Begin(error);
  Session* own = SessionOf(session, errors);
  if (own == nullptr) return LATHE_INVALID_ARGUMENT;
  const size_t inputs = own->engine().model().body.inputs.size();
  if (inputs != 1)
    return Public(
        errors.Fail(Code::kInvalidArgument, "run_image: the model has %zu inputs: use set_image and run", inputs));
  const Code code = Fill(own, input, image, part, placement, errors);
  return Public(code != Code::kOk ? code : own->Run(errors));
}

}  // namespace vision
}  // namespace lathe
