// Probabilities and the best of many scores.
#include "native/kernel/math/math.h"
#include "native/vision/answers.h"

namespace lathe {
namespace vision {

void Softmax(const float* scores, size_t count, float* probabilities) {
  if (count == 0) return;
  float most = scores[0], sum = 0;
  for (size_t i = 1; i < count; ++i) most = scores[i] > most ? scores[i] : most;
  for (size_t i = 0; i < count; ++i) {
    probabilities[i] = Expf(scores[i] - most);
    sum += probabilities[i];
  }
  for (size_t i = 0; i < count; ++i) probabilities[i] /= sum;
}

size_t TopK(const float* scores, size_t count, size_t k, int32_t* indices) {
  size_t found = 0;
  if (k == 0) return 0;
  for (size_t i = 0; i < count; ++i) {
    if (found == k && !(scores[i] > scores[indices[k - 1]])) continue;
    size_t place = found < k ? found++ : k - 1;
    for (; place > 0 && scores[i] > scores[indices[place - 1]]; --place) indices[place] = indices[place - 1];
    indices[place] = static_cast<int32_t>(i);
  }
  return found;
}

}  // namespace vision
}  // namespace lathe
