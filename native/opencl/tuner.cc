#include "native/opencl/tuner.h"

#include <string.h>

namespace lathe {
namespace opencl {

namespace {

constexpr int kRuns = 4;            // of every candidate, behind one that is not counted
constexpr int kPasses = 3;          // of a part, to compare units
constexpr int64_t kGain = 97;       // percent: what is less of a gain may be chance
constexpr int64_t kHopeless = 150;  // percent of the best: one run is enough then
constexpr size_t kLeastItems = 16;  // in a work-group of a device that is no processor
constexpr size_t kMostOnCpu = 64;
constexpr int64_t kFailed = INT64_MAX;

uint32_t Narrow(int64_t nanoseconds) {
  return nanoseconds > UINT32_MAX ? UINT32_MAX : static_cast<uint32_t>(nanoseconds);
}

uint64_t KeyOfLaunch(const LaunchRecord& record) {
  return Hash()
      .AddText("launch")
      .AddText(GetUnits().units[record.unit].name)
      .AddText(record.function)
      .AddText(record.options)
      .Add(record.work, sizeof(record.work))
      .value();
}

void HashAttribute(const ::lathe::Attr& attribute, Hash* hash) {
  hash->AddText(attribute.name)
      .Add(&attribute.i, sizeof(attribute.i))
      .Add(&attribute.f, sizeof(attribute.f))
      .Add(attribute.s.data(), attribute.s.size())
      .Add(attribute.ints.data(), attribute.ints.size() * sizeof(int64_t))
      .Add(attribute.floats.data(), attribute.floats.size() * sizeof(float));
}

size_t UnitsOf(const char* op) {
  size_t count = 0;
  for (const Unit& unit : GetUnits().units) count += strcmp(unit.op, op) == 0 ? 1u : 0u;
  return count;
}

// What reads indices must see some that are in range, which only a whole run makes.
bool ReadsNumbers(const LaunchRecord& record) {
  for (int32_t i = 0; i < record.argument_count; ++i) {
    const LaunchArgument& argument = record.arguments[i];
    if (argument.kind == LaunchArgument::kTensor && argument.tensor->home == Home::kNumbers &&
        argument.tensor->block >= 0)
      return true;
  }
  return false;
}

class Tuner {
 public:
  Tuner(SessionPart* part, int64_t until)
      : part_(*part), runtime_(*part->runtime), api_(runtime_.api()), memory_(runtime_.allocator()), until_(until) {}

  // False where time was over before all launches were tuned, or where the device does not let them be measured.
  bool TuneLaunches(bool* any);
  // The nanoseconds of each node. False where they cannot be measured.
  bool MeasureNodes(Span<int64_t> nodes);

 private:
  struct Distinct {
    LaunchRecord* record;
    uint64_t key;
    int64_t cost;  // of all launches that are alike
  };
  struct Choice {
    size_t sizes[3];
    int64_t time;
  };

  bool ZeroInputs();
  bool RunUpTo(const LaunchRecord* end);
  int64_t RunOnce(const LaunchRecord& record);
  int64_t TimeOf(LaunchRecord* record, const size_t (&sizes)[3], int64_t best);
  size_t Gather(Span<Distinct> distinct);
  bool TuneLaunch(LaunchRecord* record, uint64_t key, bool is_first);
  void Try(LaunchRecord* record, const size_t (&sizes)[3], Choice* best);

  SessionPart& part_;
  Runtime& runtime_;
  const ClApi& api_;
  MemoryArena memory_;
  int64_t until_;
};

bool Tuner::ZeroInputs() {
  for (Transfer* each = part_.transfers; each != nullptr; each = each->next) {
    if (each->to_host) continue;
    const size_t size = static_cast<size_t>(each->count) * 4;
    cl_int error = kClSuccess;
    void* mapped = api_.EnqueueMapBuffer(runtime_.queue(), each->staging->memory, kClTrue, kClMapWriteInvalidateRegion,
                                         0, size, 0, nullptr, nullptr, &error);
    if (error != kClSuccess) return false;
    memset(mapped, 0, size);
    if (api_.EnqueueUnmapMemObject(runtime_.queue(), each->staging->memory, mapped, 0, nullptr, nullptr) != kClSuccess)
      return false;
  }
  return true;
}

// Nanoseconds, or kFailed.
int64_t Tuner::RunOnce(const LaunchRecord& record) {
  cl_event event = nullptr;
  const size_t* local = record.driver_chooses ? nullptr : record.local;
  if (api_.EnqueueNDRangeKernel(runtime_.queue(), record.kernel, 3, nullptr, record.global, local, 0, nullptr,
                                &event) != kClSuccess)
    return kFailed;
  cl_ulong from = 0, to = 0;
  cl_int error = api_.WaitForEvents(1, &event);
  if (error == kClSuccess)
    error = api_.GetEventProfilingInfo(event, kClProfilingCommandStart, sizeof(from), &from, nullptr);
  if (error == kClSuccess) error = api_.GetEventProfilingInfo(event, kClProfilingCommandEnd, sizeof(to), &to, nullptr);
  api_.ReleaseEvent(event);
  return error == kClSuccess && to > from ? static_cast<int64_t>(to - from) : kFailed;
}

bool Tuner::RunUpTo(const LaunchRecord* end) {
  for (LaunchRecord* record = part_.launches; record != end; record = record->next) {
    if (RunOnce(*record) == kFailed) return false;
  }
  return true;
}

bool Tuner::MeasureNodes(Span<int64_t> nodes) {
  if (!ZeroInputs() || !RunUpTo(nullptr)) return false;
  for (LaunchRecord* record = part_.launches; record != nullptr; record = record->next) record->end_ns = kFailed;
  for (int pass = 0; pass < kPasses; ++pass) {
    for (LaunchRecord* record = part_.launches; record != nullptr; record = record->next) {
      const int64_t time = RunOnce(*record);
      if (time < record->end_ns) record->end_ns = time;
    }
  }
  for (LaunchRecord* record = part_.launches; record != nullptr; record = record->next) {
    if (record->end_ns == kFailed) return false;
    nodes[record->node] += record->end_ns;
  }
  return true;
}

// The least of several runs, or kFailed. Less than all of them where there is no hope.
int64_t Tuner::TimeOf(LaunchRecord* record, const size_t (&sizes)[3], int64_t best) {
  part_.SetGroup(record, sizes);
  int64_t least = kFailed;
  if (RunOnce(*record) == kFailed) return kFailed;
  for (int run = 0; run < kRuns; ++run) {
    const int64_t time = RunOnce(*record);
    if (time < least) least = time;
    if (time == kFailed || (best != kFailed && least / kHopeless > best / 100)) break;
  }
  return least;
}

// The launches that are not tuned, without those that are like another one; what takes longest first.
size_t Tuner::Gather(Span<Distinct> distinct) {
  size_t count = 0;
  for (LaunchRecord* record = part_.launches; record != nullptr; record = record->next) {
    Tuned known;
    const uint64_t key = KeyOfLaunch(*record);
    if (record->group[0] != 0 || runtime_.tuning().Find(key, &known)) continue;
    size_t place = 0;
    while (place < count && distinct[place].key != key) ++place;
    if (place == count) distinct[count++] = {record, key, 0};
    distinct[place].cost += record->end_ns;
  }
  for (size_t i = 1; i < count; ++i) {
    const Distinct moved = distinct[i];
    size_t to = i;
    for (; to > 0 && distinct[to - 1].cost < moved.cost; --to) distinct[to] = distinct[to - 1];
    distinct[to] = moved;
  }
  return count;
}

bool Tuner::TuneLaunches(bool* any) {
  size_t launches = 0;
  for (LaunchRecord* record = part_.launches; record != nullptr; record = record->next) {
    record->end_ns = 0;
    ++launches;
  }
  Span<Distinct> distinct;
  if (!memory_.NewArray(launches, &distinct)) return false;
  if (Gather(distinct) == 0) return true;
  if (!ZeroInputs() || !RunUpTo(nullptr)) return false;
  for (LaunchRecord* record = part_.launches; record != nullptr; record = record->next) {
    record->end_ns = RunOnce(*record);
    if (record->end_ns == kFailed) return false;
  }
  const size_t count = Gather(distinct);
  bool whole = true;
  for (size_t i = 0; i < count && whole; ++i) {
    whole = TuneLaunch(distinct[i].record, distinct[i].key, !*any);
    *any = *any || whole;
  }
  for (LaunchRecord* record = part_.launches; record != nullptr; record = record->next) part_.ChooseGroup(record);
  return whole;
}

void Tuner::Try(LaunchRecord* record, const size_t (&sizes)[3], Choice* best) {
  const int64_t time = TimeOf(record, sizes, best->time);
  if (time >= best->time) return;
  memcpy(best->sizes, sizes, sizeof(sizes));
  best->time = time;
}

// Powers of two: all that fit the work and the limits, or on processors, where every size has to be compiled, some
// rows.
// What time is too short for is not kept, but for the first launch: whoever repeats this is done some day.
bool Tuner::TuneLaunch(LaunchRecord* record, uint64_t key, bool is_first) {
  if (ReadsNumbers(*record) && !RunUpTo(record)) return false;
  const DeviceFacts& facts = runtime_.facts();
  const bool is_cpu = facts.type == kClDeviceTypeCpu;
  part_.ChooseGroup(record);
  const size_t usual[3] = {record->local[0], record->local[1], record->local[2]};
  Choice best = {{usual[0], usual[1], usual[2]}, kFailed};
  best.time = TimeOf(record, usual, kFailed);
  if (best.time == kFailed) return false;
  const int64_t usual_time = best.time;
  const size_t most = is_cpu && part_.MostItems(*record) > kMostOnCpu ? kMostOnCpu : part_.MostItems(*record);
  size_t limits[3], least = 1;
  for (int axis = 0; axis < 3; ++axis) {
    size_t power = 1;
    while (power < static_cast<size_t>(record->work[axis]) && power * 2 <= facts.max_items[axis]) power *= 2;
    limits[axis] = is_cpu && axis > 0 ? 1 : power;
    if (!is_cpu && least < kLeastItems) least *= power;
  }
  if (least > kLeastItems) least = kLeastItems;
  for (size_t z = 1; z <= limits[2] && z <= most; z *= 2) {
    for (size_t y = 1; y <= limits[1] && y * z <= most; y *= 2) {
      for (size_t x = 1; x <= limits[0] && x * y * z <= most; x *= is_cpu ? 4 : 2) {
        if (!is_first && NowNanoseconds() >= until_) return false;
        if (x * y * z >= least) Try(record, {x, y, z}, &best);
      }
    }
  }
  Try(record, {0, 0, 0}, &best);
  Tuned tuned = {{}, Narrow(usual_time), Narrow(best.time)};
  const bool gains = best.time < usual_time / 100 * kGain;
  for (int axis = 0; axis < 3; ++axis) tuned.numbers[axis] = static_cast<uint32_t>((gains ? best.sizes : usual)[axis]);
  if (!gains) tuned.best_ns = tuned.usual_ns;
  return runtime_.tuning().Keep(key, tuned);
}

// The part with the second unit of every node that two take.
class Trial {
 public:
  Trial(const NodeView& region, SessionPart* part)
      : region_(region), part_(*part), other_(part->runtime->allocator()), memory_(part->runtime->allocator()) {
    other_.session = part->session;
    other_.part = part->part;
    other_.runtime = part->runtime;
  }
  ~Trial() { other_.Clear(); }
  Trial(const Trial&) = delete;
  Trial& operator=(const Trial&) = delete;

  bool IsOfUse();
  bool Plan(const Reporter& reporter);
  // Keeps which unit is best for each node.
  bool Compare(int64_t until, bool* any, bool* better);

 private:
  Span<const ::lathe::Node> nodes() const { return part_.part->node->regions[0].nodes; }
  static const Unit* UnitOf(const SessionPart& part, size_t node);

  const NodeView& region_;
  SessionPart& part_;
  SessionPart other_;
  MemoryArena memory_;
  Span<uint64_t> keys_;
};

bool Trial::IsOfUse() {
  const Planner planner(part_.runtime, part_.part, region_, &part_.memory, false);
  for (const ::lathe::Node& node : nodes()) {
    Tuned known;
    if (UnitsOf(node.op) > 1 && !part_.runtime->tuning().Find(KeyOfNode(planner, node), &known)) return true;
  }
  return false;
}

bool Trial::Plan(const Reporter& reporter) {
  Planner planner(part_.runtime, part_.part, region_, &other_.memory, false);
  planner.PreferOthers();
  if (!memory_.NewArray(nodes().size(), &keys_)) return false;
  for (size_t i = 0; i < nodes().size(); ++i) keys_[i] = KeyOfNode(planner, nodes()[i]);
  if (planner.Plan() != Code::kOk) return false;
  other_.launches = planner.launches();
  other_.transfers = planner.transfers();
  int32_t blocks = 0;
  const Span<DeviceTensor*> pooled = planner.Pooled(&blocks);
  return pooled.data() != nullptr && other_.Realise(reporter, pooled, blocks) == Code::kOk;
}

const Unit* Trial::UnitOf(const SessionPart& part, size_t node) {
  const LaunchRecord* record = part.launches;
  while (record != nullptr && record->node != node) record = record->next;
  return record != nullptr ? &GetUnits().units[record->unit] : nullptr;
}

bool Trial::Compare(int64_t until, bool* any, bool* better) {
  Tuner usual(&part_, until), other(&other_, until);
  Span<int64_t> usual_ns, other_ns;
  if (!memory_.NewArray(nodes().size(), &usual_ns) || !memory_.NewArray(nodes().size(), &other_ns)) return false;
  if (!other.TuneLaunches(any) || !usual.MeasureNodes(usual_ns) || !other.MeasureNodes(other_ns)) return false;
  for (size_t i = 0; i < nodes().size(); ++i) {
    const Unit *first = UnitOf(part_, i), *second = UnitOf(other_, i);
    if (UnitsOf(nodes()[i].op) < 2 || first == nullptr || second == nullptr) continue;
    const bool gains = first != second && other_ns[i] < usual_ns[i] / 100 * kGain;
    const uint64_t name = KeyOfUnit(gains ? *second : *first);
    const Tuned tuned = {{static_cast<uint32_t>(name), static_cast<uint32_t>(name >> 32), 0},
                         Narrow(usual_ns[i]),
                         Narrow(gains ? other_ns[i] : usual_ns[i])};
    if (!part_.runtime->tuning().Keep(keys_[i], tuned)) return false;
    *better = *better || gains;
  }
  return true;
}

}  // namespace

uint64_t KeyOfUnit(const Unit& unit) { return Hash().AddText(unit.name).value(); }

uint64_t KeyOfNode(const Planner& planner, const ::lathe::Node& node) {
  const PartSettings& settings = planner.part().settings;
  const int32_t asked[] = {settings.images, settings.half, settings.half_arithmetic, settings.winograd};
  Hash hash;
  hash.AddText("node").AddText(node.op).Add(asked, sizeof(asked));
  for (const ::lathe::Attr& attribute : node.attrs) HashAttribute(attribute, &hash);
  const Span<uint32_t> borders[] = {node.inputs, node.outputs};
  for (const Span<uint32_t>& values : borders) {
    for (const uint32_t value : values) {
      const Shape& shape = planner.HostOf(value).shape;
      hash.Add(shape.dims, static_cast<size_t>(shape.rank) * sizeof(shape.dims[0])).AddText("");
    }
  }
  return hash.value();
}

// Tuned or not, any size has to fit this kernel and this device.
void SessionPart::UseTuned(LaunchRecord* record) {
  const DeviceFacts& facts = runtime->facts();
  Tuned tuned;
  if (record->group[0] != 0 || !runtime->tuning().Find(KeyOfLaunch(*record), &tuned)) return;
  size_t sizes[3], items = 1;
  const size_t most = MostItems(*record);
  for (int axis = 0; axis < 3; ++axis) {
    sizes[axis] = tuned.numbers[axis];
    if (sizes[axis] > facts.max_items[axis] || sizes[axis] > most) return;
    items *= sizes[axis];
  }
  const bool driver_chooses = (sizes[0] | sizes[1] | sizes[2]) == 0;
  if (driver_chooses || (items != 0 && items <= most)) SetGroup(record, sizes);
}

void TunePart(const Reporter& reporter, const NodeView& region, SessionPart* part, bool* better) {
  Tuning& tuning = part->runtime->tuning();
  const Locked locked(&tuning.turn());
  const int64_t start = NowNanoseconds(), left = tuning.Left(part->session);
  bool any = false;
  if (left == 0) return;
  if (Tuner(part, start + left).TuneLaunches(&any) && (!any || NowNanoseconds() < start + left)) {
    Trial trial(region, part);
    if (trial.IsOfUse() && trial.Plan(reporter)) trial.Compare(start + left, &any, better);
  }
  tuning.Spend(NowNanoseconds() - start);
}

}  // namespace opencl
}  // namespace lathe
