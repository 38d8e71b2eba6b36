// Connectionist temporal classification: labels of sequences.
#include "native/kernel/math/math.h"
#include "native/vision/answers.h"
#include "native/vision/image.h"

namespace lathe {
namespace vision {
namespace {

constexpr int kBeams = LATHE_VISION_MAX_BEAMS;
constexpr int kLabels = LATHE_VISION_MAX_LABELS;

Code CheckSequence(const float* scores, int steps, int classes, int blank, const int32_t* labels, size_t room,
                   const lathe_text* text, const ErrorSink& errors) {
  if (scores == nullptr || text == nullptr || (labels == nullptr && room > 0))
    return errors.Fail(Code::kInvalidArgument, "ctc: an argument is NULL");
  if (steps < 0 || classes < 2 || classes > 65535 || blank < 0 || blank >= classes)
    return errors.Fail(Code::kInvalidArgument, "ctc: %d steps of %d classes, of which %d is the blank", steps, classes,
                       blank);
  return Code::kOk;
}

// A sequence of labels, with the probabilities that it ended with a blank and with its last label.
struct Beam {
  float blank;
  float label;
  int length;
  uint16_t labels[kLabels];

  float both() const { return blank + label; }
  int last() const { return length == 0 ? -1 : labels[length - 1]; }
};

// A beam that goes on, or with another label.
struct Candidate {
  float blank;
  float label;
  int beam;
  int next;  // -1: it stays

  float both() const { return blank + label; }
};

struct Candidates {
  Candidate list[kBeams];
  int count;
  int room;

  void Add(const Candidate& made) {
    if (count == room && !(made.both() > list[count - 1].both())) return;
    int place = count < room ? count++ : count - 1;
    for (; place > 0 && made.both() > list[place - 1].both(); --place) list[place] = list[place - 1];
    list[place] = made;
  }
};

// The beam of which `beam` is one label more; -1: none.
int ParentOf(const Beam* beams, int count, const Beam& beam) {
  for (int i = 0; i < count; ++i) {
    if (beams[i].length + 1 == beam.length &&
        memcmp(beams[i].labels, beam.labels, sizeof(uint16_t) * static_cast<size_t>(beams[i].length)) == 0)
      return i;
  }
  return -1;
}

float Extended(const Beam& beam, int label) { return beam.last() == label ? beam.blank : beam.both(); }

// What the beams may become in one step.
void Collect(const Beam* beams, int count, const float* scores, int classes, int blank, Candidates* made) {
  uint32_t children[kBeams] = {};  // beams that are one label more, as bits
  for (int i = 0; i < count; ++i) {
    const Beam& beam = beams[i];
    Candidate stays = {beam.both() * scores[blank], 0, i, -1};
    if (beam.length > 0) stays.label = beam.label * scores[beam.last()];
    const int parent = beam.length > 0 ? ParentOf(beams, count, beam) : -1;
    if (parent >= 0) {
      stays.label += Extended(beams[parent], beam.last()) * scores[beam.last()];
      children[parent] |= uint32_t{1} << i;
    }
    made->Add(stays);
  }
  for (int i = 0; i < count; ++i) {
    if (beams[i].length == kLabels) continue;
    for (int c = 0; c < classes; ++c) {
      if (c == blank) continue;
      const float probability = Extended(beams[i], c) * scores[c];
      if (made->count == made->room && !(probability > made->list[made->count - 1].both())) continue;
      bool known = false;
      for (int k = 0; k < count && !known; ++k) known = ((children[i] >> k) & 1) != 0 && beams[k].last() == c;
      if (!known) made->Add({0, probability, i, c});
    }
  }
}

// The beams of the next step, whose best has the probability 1; returns the logarithm of what it was divided by.
float Step(const Beam* beams, const Candidates& made, Beam* next) {
  const float best = made.list[0].both();
  const float scale = best > 0 ? 1.0f / best : 1.0f;
  for (int i = 0; i < made.count; ++i) {
    const Candidate& from = made.list[i];
    next[i] = beams[from.beam];
    next[i].blank = from.blank * scale;
    next[i].label = from.label * scale;
    if (from.next >= 0) next[i].labels[next[i].length++] = static_cast<uint16_t>(from.next);
  }
  return best > 0 ? Logf(best) : 0.0f;
}

}  // namespace

lathe_code CtcGreedy(const float* scores, int32_t steps, int32_t classes, int32_t blank, int32_t* labels, size_t room,
                     lathe_text* text, lathe_error* error) {
  const ErrorSink errors = Begin(error);
  const Code code = CheckSequence(scores, steps, classes, blank, labels, room, text, errors);
  if (code != Code::kOk) return Public(code);
  size_t length = 0;
  float sum = 0;
  int before = blank;
  for (int step = 0; step < steps; ++step, scores += classes) {
    int best = 0;
    for (int c = 1; c < classes; ++c) best = scores[c] > scores[best] ? c : best;
    if (best != blank && best != before) {
      if (length == room)
        return Public(errors.Fail(Code::kInvalidArgument, "ctc_greedy: there is room for %zu labels only", room));
      labels[length++] = best;
      sum += scores[best];
    }
    before = best;
  }
  text->length = static_cast<int32_t>(length);
  text->score = length == 0 ? 0.0f : sum / static_cast<float>(length);
  return LATHE_OK;
}

lathe_code CtcBeam(const float* scores, int32_t steps, int32_t classes, int32_t blank, int32_t beams, int32_t* labels,
                   size_t room, lathe_text* text, lathe_error* error) {
  const ErrorSink errors = Begin(error);
  Code code = CheckSequence(scores, steps, classes, blank, labels, room, text, errors);
  if (code == Code::kOk && (beams < 1 || beams > kBeams))
    code = errors.Fail(Code::kInvalidArgument, "ctc_beam: %d beams; 1 to %d are possible", beams, kBeams);
  if (code != Code::kOk) return Public(code);
  Beam sets[2][kBeams];
  sets[0][0].blank = 1, sets[0][0].label = 0, sets[0][0].length = 0;
  int count = 1, now = 0;
  float logarithm = 0;
  for (int step = 0; step < steps; ++step, scores += classes) {
    Candidates made = {};
    made.room = beams;
    Collect(sets[now], count, scores, classes, blank, &made);
    logarithm += Step(sets[now], made, sets[1 - now]);
    now = 1 - now;
    count = made.count;
  }
  const Beam& best = sets[now][0];
  if (static_cast<size_t>(best.length) > room)
    return Public(errors.Fail(Code::kInvalidArgument, "ctc_beam: there is room for %zu labels only", room));
  for (int i = 0; i < best.length; ++i) labels[i] = best.labels[i];
  text->length = best.length;
  text->score = logarithm + Logf(best.both());
  return LATHE_OK;
}

}  // namespace vision
}  // namespace lathe
