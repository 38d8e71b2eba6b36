#include "native/vision/tensor.h"

#include <math.h>

namespace lathe {
namespace vision {
namespace {

// A tile row of pixels becomes elements, from pixel `at` of the tensor on, `across` pixels from one to the next.
void Put(const Pass& pass, const uint8_t* row, ptrdiff_t at, ptrdiff_t across) {
  const Writer& writer = *pass.parts.writer;
  const size_t size = writer.size, count = static_cast<size_t>(pass.count);
  const int channels = pass.channels;
  if (!pass.planes && across == 1) {
    writer.row(pass.set, row, count, channels, pass.normal, pass.tensor + static_cast<size_t>(at * channels) * size);
    return;
  }
  if (pass.planes && across == 1) {
    uint8_t planes[4 * kTile];
    if (channels > 1) split_channels.of(pass.set)(row, count, channels, planes, kTile);
    for (int c = 0; c < channels; ++c) {
      const Normal own = {{pass.normal.gain[c]}, {pass.normal.bias[c]}};
      const size_t first = static_cast<size_t>(c) * pass.plane + static_cast<size_t>(at);
      writer.row(pass.set, channels > 1 ? planes + c * kTile : row, count, 1, own, pass.tensor + first * size);
    }
    return;
  }
  alignas(16) uint8_t elements[kTile * 4 * 4];
  writer.row(pass.set, row, count, channels, pass.normal, elements);
  const uint8_t* from = elements;
  for (size_t i = 0; i < count; ++i, at += across) {
    for (int c = 0; c < channels; ++c, from += size) {
      const size_t element = pass.planes ? static_cast<size_t>(c) * pass.plane + static_cast<size_t>(at)
                                         : static_cast<size_t>(at * channels + c);
      memcpy(pass.tensor + element * size, from, size);
    }
  }
}

void Run(Pass pass) {
  Sampler samplers[3];
  const int sampler_count = pass.parts.reader->samplers(pass, samplers);
  uint8_t buffer[kTile * 4];
  for (pass.first = pass.columns[0]; pass.first < pass.columns[1]; pass.first += kTile) {
    pass.count = pass.columns[1] - pass.first < kTile ? pass.columns[1] - pass.first : kTile;
    for (int i = 0; i < sampler_count; ++i) {
      samplers[i].set = pass.set;
      samplers[i].first = pass.first;
      samplers[i].count = pass.count;
      pass.parts.filter->start(samplers + i);
    }
    const Orientation& way = pass.orientation;
    for (int y = pass.rows[0]; y < pass.rows[1]; ++y) {
      const uint8_t* row = pass.parts.reader->row(pass, samplers, y, buffer);
      if (pass.parts.padding != nullptr) row = pass.parts.padding->mix(pass, y, row, buffer);
      Put(pass, row, way.base + pass.first * way.across + y * way.down, way.across);
    }
  }
}

// A rectangle of the tensor, in the colour of the border.
void Border(Pass pass, int left, int top, int right, int bottom, int width) {
  uint8_t row[kTile * 4];
  for (int i = 0; i < kTile * pass.channels; ++i) row[i] = pass.fill[i % pass.channels];
  for (int y = top; y < bottom; ++y) {
    for (int x = left; x < right; x += kTile) {
      pass.count = right - x < kTile ? right - x : kTile;
      Put(pass, row, static_cast<ptrdiff_t>(y) * width + x, 1);
    }
  }
}

// The bits of `fit` without its rounding.
constexpr uint32_t kPlaces = 15;

bool Pads(const lathe_view& view) {
  const uint32_t place = view.fit & kPlaces;
  return place == LATHE_PAD || place == LATHE_PAD_CORNER;
}

Content ContentOf(const lathe_view& view, int width, int height, int part_width, int part_height) {
  if (view.fit == LATHE_STRETCH || Pads(view)) return {0, 0, width, height};
  const bool sideways = view.rotation % 180 != 0;
  const double turned_width = sideways ? part_height : part_width, turned_height = sideways ? part_width : part_height;
  const double scale = fmin(width / turned_width, height / turned_height);
  const uint32_t place = view.fit & kPlaces, rounding = view.fit & ~kPlaces;
  const auto side = [&](double pixels, int most) {
    // What is an integer may not be one after the division.
    const double made = pixels * scale + (rounding == LATHE_LETTERBOX_DOWN ? 0 : 0.5);
    const int rounded = static_cast<int>(rounding == LATHE_LETTERBOX_UP ? ceil(pixels * scale - 1e-9) : floor(made));
    return rounded < 1 ? 1 : (rounded > most ? most : rounded);
  };
  Content content = {0, 0, side(turned_width, width), side(turned_height, height)};
  if (place == LATHE_LETTERBOX) {
    content.left = (width - content.width) / 2;
    content.top = (height - content.height) / 2;
  }
  return content;
}

// Pixels, not edges: a side that runs backwards begins one pixel earlier.
Orientation OrientationOf(const Turn& turn, const Content& content, int width) {
  const int* m = turn.m;
  const int x = m[2] - (m[0] + m[1] < 0 ? 1 : 0) + content.left, y = m[5] - (m[3] + m[4] < 0 ? 1 : 0) + content.top;
  return {static_cast<ptrdiff_t>(y) * width + x, static_cast<ptrdiff_t>(m[3]) * width + m[0],
          static_cast<ptrdiff_t>(m[4]) * width + m[1]};
}

lathe_placement PlacementOf(const Pass& pass, const Turn& turn, const Content& content) {
  const float scale_x = static_cast<float>(pass.width) / static_cast<float>(pass.out_width);
  const float scale_y = static_cast<float>(pass.height) / static_cast<float>(pass.out_height);
  // The inverse of a turn is its transpose.
  const int* m = turn.m;
  const float x = static_cast<float>(content.left + m[2]), y = static_cast<float>(content.top + m[5]);
  lathe_placement made = {};
  const float rows[2][2] = {{static_cast<float>(m[0]), static_cast<float>(m[3])},
                            {static_cast<float>(m[1]), static_cast<float>(m[4])}};
  for (int i = 0; i < 2; ++i) {
    const float scale = i == 0 ? scale_x : scale_y;
    made.matrix[i * 3] = rows[i][0] * scale;
    made.matrix[i * 3 + 1] = rows[i][1] * scale;
    made.matrix[i * 3 + 2] =
        static_cast<float>(i == 0 ? pass.left : pass.top) - (rows[i][0] * x + rows[i][1] * y) * scale;
  }
  made.width = pass.image.width;
  made.height = pass.image.height;
  return made;
}

Code CheckView(const lathe_view& view, const Image& image, const ErrorSink& errors) {
  if (view.filter > LATHE_AREA) return errors.Fail(Code::kInvalidArgument, "to_tensor: %u is no filter", view.filter);
  if (view.rotation % 90 != 0 || view.rotation > 270)
    return errors.Fail(Code::kInvalidArgument, "to_tensor: rotation by %u degrees; 0, 90, 180 and 270 are possible",
                       view.rotation);
  if (view.flip > LATHE_FLIP_XY) return errors.Fail(Code::kInvalidArgument, "to_tensor: %u are no axes", view.flip);
  const uint32_t place = view.fit & kPlaces, rounding = view.fit & ~kPlaces;
  const bool rounds = rounding == LATHE_LETTERBOX_DOWN || rounding == LATHE_LETTERBOX_UP;
  if (place > LATHE_PAD_CORNER || (rounding != 0 && (!rounds || place == LATHE_STRETCH)))
    return errors.Fail(Code::kInvalidArgument, "to_tensor: %u is no way to fit", view.fit);
  if (view.width == 0 && view.height == 0) return Code::kOk;
  if (view.left < 0 || view.top < 0 || view.width < 1 || view.height < 1 || view.left > image.width - view.width ||
      view.top > image.height - view.height)
    return errors.Fail(Code::kInvalidArgument, "to_tensor: %dx%d pixels from %d, %d on are not inside of %dx%d",
                       view.width, view.height, view.left, view.top, image.width, image.height);
  return Code::kOk;
}

Code CheckElements(const lathe_elements& elements, const ErrorSink& errors) {
  const lathe_dtype dtype = elements.dtype;
  if (dtype != LATHE_F32 && dtype != LATHE_F16 && dtype != LATHE_S8 && dtype != LATHE_U8)
    return errors.Fail(Code::kInvalidArgument, "to_tensor: tensors of type %u are not filled", dtype);
  if (ChannelsOf(elements.order) == 0)
    return errors.Fail(Code::kInvalidArgument, "to_tensor: %u is no order of channels", elements.order);
  for (int c = 0; c < ChannelsOf(elements.order); ++c) {
    if (!(fabsf(elements.mean[c]) < 1e9f) || !(fabsf(elements.scale[c]) < 1e9f))
      return errors.Fail(Code::kInvalidArgument, "to_tensor: mean or scale of channel %d is not finite", c);
  }
  if (!(elements.quantum >= 0) || !(elements.quantum < 1e9f))
    return errors.Fail(Code::kInvalidArgument, "to_tensor: the quantum is negative or not finite");
  const bool is_signed = dtype == LATHE_S8;
  if (elements.zero_point < (is_signed ? -128 : 0) || elements.zero_point > (is_signed ? 127 : 255))
    return errors.Fail(Code::kInvalidArgument, "to_tensor: the zero point %d does not fit the type",
                       elements.zero_point);
  return Code::kOk;
}

Normal NormalOf(const lathe_elements& elements) {
  const bool is_byte = elements.dtype == LATHE_S8 || elements.dtype == LATHE_U8;
  const double quantum = is_byte && elements.quantum != 0 ? elements.quantum : 1;
  Normal normal = {};
  for (int c = 0; c < 4; ++c) {
    const double gain = elements.scale[c] / quantum;
    normal.gain[c] = static_cast<float>(gain);
    normal.bias[c] = static_cast<float>((is_byte ? elements.zero_point : 0) - elements.mean[c] * gain);
  }
  return normal;
}

Code CheckCall(const TensorCall& call, const lathe_view& view, const Image& image, const ErrorSink& errors) {
  if (call.elements == nullptr || call.elements->struct_size < sizeof(lathe_elements) ||
      (call.view != nullptr && call.view->struct_size < sizeof(lathe_view)))
    return errors.Fail(Code::kInvalidArgument, "to_tensor: struct_size of view or elements is not set");
  Code code = CheckView(view, image, errors);
  if (code == Code::kOk) code = CheckElements(*call.elements, errors);
  if (code != Code::kOk) return code;
  if (call.width < 1 || call.height < 1 || call.width > kMaxSide || call.height > kMaxSide)
    return errors.Fail(Code::kInvalidArgument, "to_tensor: a tensor of %dx%d pixels", call.width, call.height);
  const size_t size = call.elements->dtype == LATHE_F32 ? 4 : (call.elements->dtype == LATHE_F16 ? 2 : 1);
  const uint64_t needed = uint64_t{size} * static_cast<uint64_t>(ChannelsOf(call.elements->order)) *
                          static_cast<uint64_t>(call.width) * static_cast<uint64_t>(call.height);
  if (call.tensor == nullptr || call.bytes != needed)
    return errors.Fail(Code::kInvalidArgument, "to_tensor: the tensor has %zu bytes, and needs %llu",
                       call.tensor == nullptr ? size_t{0} : call.bytes, static_cast<unsigned long long>(needed));
  if (reinterpret_cast<uintptr_t>(call.tensor) % size != 0)
    return errors.Fail(Code::kInvalidArgument, "to_tensor: the tensor is not aligned to its elements");
  return Code::kOk;
}

void Describe(const TensorCall& call, const lathe_view& view, const Content& content, Pass* pass) {
  const lathe_elements& elements = *call.elements;
  const bool sideways = view.rotation % 180 != 0;
  pass->out_width = sideways ? content.height : content.width;
  pass->out_height = sideways ? content.width : content.height;
  pass->columns[1] = pass->out_width;
  pass->rows[1] = pass->out_height;
  pass->filter = view.filter;
  memcpy(pass->fill, view.fill, sizeof(pass->fill));
  pass->channels = ChannelsOf(elements.order);
  pass->gray = elements.order == LATHE_GRAY;
  pass->blue_first = BlueFirst(elements.order);
  pass->normal = NormalOf(elements);
  pass->planes = elements.planes != 0;
  pass->plane = static_cast<size_t>(call.width) * static_cast<size_t>(call.height);
  pass->tensor = static_cast<uint8_t*>(call.tensor);
}

Code Choose(const KnownParts& known, const Image& image, const lathe_view& view, lathe_dtype dtype,
            const ErrorSink& errors, Parts* parts) {
  const uint32_t filter = view.filter;
  const int family =
      image.is_semi_planar() ? 1 : (image.pixels == LATHE_I420 ? 2 : (image.pixels == LATHE_YUYV ? 3 : 0));
  const int writer = dtype == LATHE_F32 ? 0 : (dtype == LATHE_F16 ? 1 : (dtype == LATHE_S8 ? 2 : 3));
  *parts = {known.readers[family], known.filters[filter], known.writers[writer], Pads(view) ? known.padding : nullptr};
  if (parts->reader == nullptr)
    return errors.Fail(Code::kUnsupported, "this library was not built for images of the format %u: see 'preprocess'",
                       image.pixels);
  if (parts->filter == nullptr || parts->writer == nullptr)
    return errors.Fail(Code::kUnsupported, "this library was not built for the filter %u and tensors of type %u",
                       filter, dtype);
  if (Pads(view) && parts->padding == nullptr)
    return errors.Fail(Code::kUnsupported, "this library was not built for borders before a resize: see 'preprocess'");
  return Code::kOk;
}

}  // namespace

Turn TurnOf(const lathe_view& view, int width, int height) {
  Turn turn = {{1, 0, 0, 0, 1, 0}};
  if (view.rotation == 90) turn = {{0, -1, width, 1, 0, 0}};
  if (view.rotation == 180) turn = {{-1, 0, width, 0, -1, height}};
  if (view.rotation == 270) turn = {{0, 1, 0, -1, 0, height}};
  for (int i = 0; i < 3; ++i) {
    if ((view.flip & LATHE_FLIP_Y) != 0) turn.m[i] = (i == 2 ? width : 0) - turn.m[i];
    if ((view.flip & LATHE_FLIP_X) != 0) turn.m[3 + i] = (i == 2 ? height : 0) - turn.m[3 + i];
  }
  return turn;
}

Code FillTensor(const TensorCall& call, const KnownParts& known, const ErrorSink& errors) {
  Pass pass = {};
  pass.set = BestRows();
  Code code = CheckImage(call.image, "to_tensor", &pass.image, errors);
  if (code != Code::kOk) return code;
  lathe_view view = {};
  view.filter = LATHE_BILINEAR;
  if (call.view != nullptr && call.view->struct_size >= sizeof(lathe_view)) view = *call.view;
  code = CheckCall(call, view, pass.image, errors);
  if (code != Code::kOk) return code;
  const bool whole = view.width == 0 && view.height == 0;
  pass.left = whole ? 0 : view.left;
  pass.top = whole ? 0 : view.top;
  pass.width = whole ? pass.image.width : view.width;
  pass.height = whole ? pass.image.height : view.height;
  pass.inner = {pass.left, pass.top, pass.width, pass.height};
  code = Choose(known, pass.image, view, call.elements->dtype, errors, &pass.parts);
  if (code != Code::kOk) return code;
  const Content content = ContentOf(view, call.width, call.height, pass.width, pass.height);
  const Turn turn = TurnOf(view, content.width, content.height);
  Describe(call, view, content, &pass);
  Content made = content;
  if (pass.parts.padding != nullptr) made = pass.parts.padding->extend(view, turn, call.width, call.height, &pass);
  pass.same_size = pass.out_width == pass.width && pass.out_height == pass.height;
  pass.orientation = OrientationOf(turn, content, call.width);
  const int right = made.left + made.width, bottom = made.top + made.height;
  Border(pass, 0, 0, call.width, made.top, call.width);
  Border(pass, 0, made.top, made.left, bottom, call.width);
  Border(pass, right, made.top, call.width, bottom, call.width);
  Border(pass, 0, bottom, call.width, call.height, call.width);
  Run(pass);
  if (call.placement != nullptr) *call.placement = PlacementOf(pass, turn, content);
  return Code::kOk;
}

lathe_code ToTensor(const lathe_image* image, const lathe_view* view, const lathe_elements* elements, int32_t width,
                    int32_t height, void* tensor, size_t bytes, lathe_placement* placement, lathe_error* error) {
  const TensorCall call = {image, view, elements, width, height, tensor, bytes, placement};
  static constexpr KnownParts all = {{&pixel_reader, &semi_reader, &planar_reader, &yuyv_reader},
                                     {&nearest_filter, &bilinear_filter, &area_filter},
                                     {&f32_writer, &f16_writer, &s8_writer, &u8_writer},
                                     &padding};
  return Public(FillTensor(call, all, Begin(error)));
}

}  // namespace vision
}  // namespace lathe
