// What the kernels of this operator share: beside Lathe's own headers they include yours.
#ifndef MY_OPS_BRIGHTNESS_H_
#define MY_OPS_BRIGHTNESS_H_

namespace brightness {

constexpr float kWhite = 1.0f;

}  // namespace brightness

#endif  // MY_OPS_BRIGHTNESS_H_
