// From the outputs of models to what an application asked for.
#ifndef LATHE_VISION_ANSWERS_H_
#define LATHE_VISION_ANSWERS_H_

#include "lathe/vision.h"

namespace lathe {
namespace vision {

void Softmax(const float* scores, size_t count, float* probabilities);
size_t TopK(const float* scores, size_t count, size_t k, int32_t* indices);
size_t Nms(lathe_box* boxes, size_t count, float most, uint32_t any_label);
lathe_code Yolo(const lathe_yolo* model, const float* output, lathe_box* boxes, size_t room, size_t* found,
                lathe_error* error);
lathe_code Ssd(const lathe_ssd* model, const float* offsets, const float* scores, const float* anchors,
               lathe_box* boxes, size_t room, size_t* found, lathe_error* error);
lathe_code Keypoints(const float* maps, int32_t width, int32_t height, int32_t channels, uint32_t planes,
                     lathe_point* points, lathe_error* error);
lathe_code CtcGreedy(const float* scores, int32_t steps, int32_t classes, int32_t blank, int32_t* labels, size_t room,
                     lathe_text* text, lathe_error* error);
lathe_code CtcBeam(const float* scores, int32_t steps, int32_t classes, int32_t blank, int32_t beams, int32_t* labels,
                   size_t room, lathe_text* text, lathe_error* error);
lathe_code MaskToAlpha(const float* mask, int32_t width, int32_t height, float low, float high,
                       const lathe_image* image, lathe_error* error);

}  // namespace vision
}  // namespace lathe

#endif  // LATHE_VISION_ANSWERS_H_
