// The chain of calls in Paddle-Lite's chapter on images: paddle_images MODEL FRAME WIDTH HEIGHT NEW_WIDTH NEW_HEIGHT
// OUTPUT
//
// NV12 becomes RGB, is resized, rotated by 90 degrees, reflected, and becomes a tensor with the channels last. Writes
// what each step made. Both forms of each call have to agree.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "paddle_api.h"
#include "paddle_image_preprocess.h"

using paddle::lite::utils::cv::FlipParam;
using paddle::lite::utils::cv::ImageFormat;
using paddle::lite::utils::cv::ImagePreprocess;
using paddle::lite::utils::cv::LayoutType;
using paddle::lite::utils::cv::TransParam;
typedef std::vector<uint8_t> Bytes;

static void Same(const Bytes& a, const Bytes& b, const char* step) {
  if (a == b) return;
  std::fprintf(stderr, "the two forms of %s differ\n", step);
  std::exit(1);
}

int main(int argc, char** argv) {
  if (argc != 8) return 2;
  std::ifstream file(argv[2], std::ios::binary);
  const Bytes frame((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  const int srcw = std::atoi(argv[3]), srch = std::atoi(argv[4]), dstw = std::atoi(argv[5]), dsth = std::atoi(argv[6]);
  const ImageFormat srcFormat = ImageFormat::NV12, dstFormat = ImageFormat::RGB;
  TransParam tparam;
  tparam.ih = srch;
  tparam.iw = srcw;
  tparam.oh = dsth;
  tparam.ow = dstw;
  tparam.flip_param = FlipParam::X;
  tparam.rotate_param = 90;
  try {
    ImagePreprocess images(srcFormat, dstFormat, tparam);
    Bytes converted(3 * srcw * srch), resized(3 * dstw * dsth), rotated(resized), flipped(resized), again;
    images.imageCovert(frame.data(), converted.data());
    again.resize(converted.size());
    images.imageCovert(frame.data(), again.data(), srcFormat, dstFormat);
    Same(converted, again, "imageCovert");
    images.imageResize(converted.data(), resized.data());
    again.resize(resized.size());
    images.imageResize(converted.data(), again.data(), dstFormat, srcw, srch, dstw, dsth);
    Same(resized, again, "imageResize");
    images.imageRotate(resized.data(), rotated.data());
    images.imageRotate(resized.data(), again.data(), dstFormat, dstw, dsth, 90.0f);
    Same(rotated, again, "imageRotate");
    images.imageFlip(rotated.data(), flipped.data(), dstFormat, dsth, dstw, FlipParam::X);

    paddle::lite_api::MobileConfig config;
    config.set_model_from_file(argv[1]);
    auto predictor = paddle::lite_api::CreatePaddlePredictor<paddle::lite_api::MobileConfig>(config);
    std::unique_ptr<paddle::lite_api::Tensor> input = predictor->GetInput(0);
    float means[3] = {127.5f, 110.0f, 90.0f}, scales[3] = {0.5f, 0.25f, 0.125f};
    images.image2Tensor(flipped.data(), input.get(), dstFormat, dsth, dstw, LayoutType::NHWC, means, scales);
    const float* elements = input->data<float>();

    std::ofstream out(argv[7], std::ios::binary);
    for (const Bytes* step : {&converted, &resized, &rotated, &flipped})
      out.write(reinterpret_cast<const char*>(step->data()), static_cast<std::streamsize>(step->size()));
    out.write(reinterpret_cast<const char*>(elements), static_cast<std::streamsize>(resized.size() * sizeof(float)));
    images.imageRotate(resized.data(), rotated.data(), dstFormat, dstw, dsth, 45.0f);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 3;
  }
  return 0;
}
