#include "native/tools/timing.h"

#include <dirent.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cinttypes>
#include <cmath>
#include <cstdio>

namespace lathe_run {
namespace {

// A counter of Linux's powercap interface. Zones of the first level only: those below are parts of them.
struct Meter {
  std::string name;
  std::string file;
  int64_t wraps_at;
  int64_t before;
};

bool ReadText(const std::string& path, std::string* text) {
  FILE* file = std::fopen(path.c_str(), "r");
  if (file == nullptr) return false;
  char buffer[64];
  const size_t size = std::fread(buffer, 1, sizeof(buffer) - 1, file);
  std::fclose(file);
  text->assign(buffer, size);
  while (!text->empty() && text->back() == '\n') text->pop_back();
  return !text->empty();
}

bool ReadCount(const std::string& path, int64_t* count) {
  std::string text;
  if (!ReadText(path, &text)) return false;
  return std::sscanf(text.c_str(), "%" SCNd64, count) == 1 && *count >= 0;
}

std::vector<Meter> Meters(const std::string& folder) {
  std::vector<Meter> meters;
  DIR* open = opendir(folder.c_str());
  if (open == nullptr) return meters;
  while (const dirent* entry = readdir(open)) {
    const std::string zone = entry->d_name;
    if (std::count(zone.begin(), zone.end(), ':') != 1) continue;
    Meter meter = {zone, folder + "/" + zone + "/energy_uj", 0, 0};
    if (!ReadCount(meter.file, &meter.before)) continue;
    ReadText(folder + "/" + zone + "/name", &meter.name);
    ReadCount(folder + "/" + zone + "/max_energy_range_uj", &meter.wraps_at);
    meters.push_back(meter);
  }
  closedir(open);
  std::sort(meters.begin(), meters.end(), [](const Meter& a, const Meter& b) { return a.file < b.file; });
  return meters;
}

void ReadMeters(const std::vector<Meter>& meters, Timings* result) {
  for (const Meter& meter : meters) {
    int64_t after = 0;
    if (!ReadCount(meter.file, &after)) continue;
    const int64_t counted = after - meter.before;
    if (counted < 0 && meter.wraps_at <= 0) continue;
    result->energy.emplace_back(meter.name, counted < 0 ? counted + meter.wraps_at : counted);
  }
}

struct Watch {
  Timings* timings;
  Nanoseconds began;
  size_t next;

  void Note(const lathe_node_event& event) {
    std::vector<NodeTimes>& nodes = timings->nodes;
    if (next == nodes.size()) nodes.push_back({event.index, event.name, event.op, event.kernel, {}, {}});
    nodes[next].starts.push_back(event.start_ns - began);
    nodes[next].ends.push_back(event.end_ns - began);
    ++next;
  }
};

// Events of threads, which come on those threads: each has a list of its own. The runtime has at most 256 of them.
class ThreadWatch {
 public:
  explicit ThreadWatch(const lathe::Engine& engine) : engine_(engine), lists_(256) {
    engine_.SetThreadObserver(
        [](void* user, const lathe_thread_event* event) {
          static_cast<ThreadWatch*>(user)->lists_[event->thread].spans.push_back(
              {event->thread, event->slices, event->start_ns, event->end_ns});
        },
        this);
  }
  ThreadWatch(const ThreadWatch&) = delete;
  ThreadWatch& operator=(const ThreadWatch&) = delete;
  ~ThreadWatch() { engine_.SetThreadObserver(nullptr, nullptr); }

  // Room for as many rounds as the one that was seen. Which loops a thread takes part in differs from round to round.
  void Reserve(size_t rounds) {
    size_t most = 0;
    for (const List& list : lists_) most = std::max(most, list.spans.size());
    for (List& list : lists_)
      if (!list.spans.empty()) list.spans.reserve(most * rounds);
  }

  // Those between two times, counted from the first one.
  std::vector<ThreadSpan> Between(Nanoseconds began, Nanoseconds ended) const {
    std::vector<ThreadSpan> found;
    for (const List& list : lists_)
      for (const ThreadSpan& span : list.spans)
        if (span.start >= began && span.end <= ended)
          found.push_back({span.thread, span.slices, span.start - began, span.end - began});
    return found;
  }

 private:
  struct alignas(64) List {
    std::vector<ThreadSpan> spans;
  };
  const lathe::Engine& engine_;
  std::vector<List> lists_;
};

void Marker(long number) { syscall(SYS_getpgid, 0x7A0000 + number); }

std::vector<Nanoseconds> Durations(const NodeTimes& node) {
  std::vector<Nanoseconds> times(node.starts.size());
  for (size_t i = 0; i < times.size(); ++i) times[i] = node.ends[i] - node.starts[i];
  return times;
}

Nanoseconds Mean(const std::vector<Nanoseconds>& times) {
  Nanoseconds sum = 0;
  for (const Nanoseconds time : times) sum += time;
  return sum / static_cast<Nanoseconds>(times.size());
}

// Of the sample: divided by one less than there are.
Nanoseconds Deviation(const std::vector<Nanoseconds>& times) {
  if (times.size() < 2) return 0;
  const double mean = static_cast<double>(Mean(times));
  double sum = 0;
  for (const Nanoseconds time : times) sum += (static_cast<double>(time) - mean) * (static_cast<double>(time) - mean);
  return static_cast<Nanoseconds>(std::sqrt(sum / static_cast<double>(times.size() - 1)));
}

// The round that took as long as most do: its nodes tell what happened when.
size_t MiddleRound(const std::vector<Nanoseconds>& observed) {
  const Nanoseconds median = Median(observed);
  size_t best = 0;
  for (size_t i = 0; i < observed.size(); ++i)
    if (std::abs(observed[i] - median) < std::abs(observed[best] - median)) best = i;
  return best;
}

void List(Json* json, const char* key, const std::vector<Nanoseconds>& times) {
  json->Key(key).Open('[');
  for (const Nanoseconds time : times) json->Number(time);
  json->Close(']');
}

}  // namespace

Nanoseconds Now() {
  timespec now = {};  // that of std::chrono is not looked at where the clock fails
  if (clock_gettime(CLOCK_MONOTONIC, &now) != 0) return 0;
  return Nanoseconds{now.tv_sec} * 1000000000 + now.tv_nsec;
}

lathe::Status TimeRounds(lathe::Session* session, int warmup, int rounds, const std::string& powercap,
                         Timings* result) {
  result->warmup.reserve(static_cast<size_t>(std::max(0, warmup)));
  result->rounds.reserve(static_cast<size_t>(std::max(0, rounds)));
  std::vector<Meter> meters;
  for (int round = -std::max(0, warmup); round < rounds; ++round) {
    if (round == 0) meters = Meters(powercap);
    const Nanoseconds start = Now();
    const lathe::Status status = session->Run();
    const Nanoseconds end = Now();
    if (!status.ok()) return status;
    (round < 0 ? result->warmup : result->rounds).push_back(end - start);
  }
  ReadMeters(meters, result);
  return {};
}

lathe::Status ObserveRounds(const lathe::Engine& engine, lathe::Session* session, int rounds, Timings* result) {
  Watch watch = {result, 0, 0};
  ThreadWatch threads(engine);
  std::vector<Nanoseconds> began;
  began.reserve(static_cast<size_t>(std::max(0, rounds)));
  session->SetObserver([](void* user, const lathe_node_event* event) { static_cast<Watch*>(user)->Note(*event); },
                       &watch);
  lathe::Status status;
  for (int round = 0; round < rounds && status.ok(); ++round) {
    watch.next = 0;
    watch.began = Now();
    status = session->Run();
    const Nanoseconds end = Now();
    if (status.ok()) result->observed.push_back(end - watch.began);
    began.push_back(watch.began);
    if (round != 0) continue;  // from now on hardly anything is allocated between the nodes
    threads.Reserve(static_cast<size_t>(rounds));
    for (NodeTimes& node : result->nodes) {
      node.starts.reserve(static_cast<size_t>(rounds));
      node.ends.reserve(static_cast<size_t>(rounds));
    }
  }
  session->SetObserver(nullptr, nullptr);
  if (!result->observed.empty()) {
    const size_t middle = MiddleRound(result->observed);
    result->threads = threads.Between(began[middle], began[middle] + result->observed[middle]);
  }
  return status;
}

lathe::Status MarkRounds(lathe::Session* session, Timings* result) {
  Marker(0);
  lathe::Status status = session->Run();
  Marker(1);
  if (!status.ok()) return status;
  Watch watch = {result, 0, 0};
  session->SetObserver(
      [](void* user, const lathe_node_event* event) {
        Marker(2);
        static_cast<Watch*>(user)->Note(*event);
        Marker(3);
      },
      &watch);
  Marker(3);
  status = session->Run();
  session->SetObserver(nullptr, nullptr);
  return status;
}

Nanoseconds Median(std::vector<Nanoseconds> times) {
  std::sort(times.begin(), times.end());
  const size_t half = times.size() / 2;
  return times.size() % 2 != 0 ? times[half] : (times[half - 1] + times[half]) / 2;
}

void DescribeTimings(Json* json, const Timings& timings) {
  const std::vector<Nanoseconds>& rounds = timings.rounds;
  if (!rounds.empty()) {
    json->Key("min_ns").Number(*std::min_element(rounds.begin(), rounds.end()));
    json->Key("median_ns").Number(Median(rounds));
    json->Key("mean_ns").Number(Mean(rounds));
    json->Key("max_ns").Number(*std::max_element(rounds.begin(), rounds.end()));
  }
  List(json, "warmup_ns", timings.warmup);
  List(json, "rounds_ns", rounds);
  List(json, "observed_ns", timings.observed);
  json->Key("energy_uj").Open('{');
  for (const auto& [name, count] : timings.energy) json->Key(name.c_str()).Number(count);
  json->Close('}');
}

void DescribeNodes(Json* json, const Timings& timings) {
  const size_t middle = timings.observed.empty() ? 0 : MiddleRound(timings.observed);
  for (const NodeTimes& node : timings.nodes) {
    const std::vector<Nanoseconds> times = Durations(node);
    json->Open('{').Key("index").Number(node.index).Key("name").Text(node.name).Key("op").Text(node.op);
    json->Key("kernel").Text(node.kernel).Key("ns").Number(*std::min_element(times.begin(), times.end()));
    json->Key("first_ns").Number(times.front()).Key("median_ns").Number(Median(times));
    json->Key("mean_ns").Number(Mean(times)).Key("deviation_ns").Number(Deviation(times));
    json->Key("start_ns").Number(node.starts[middle]).Key("end_ns").Number(node.ends[middle]).Close('}');
  }
}

void DescribeThreads(Json* json, const std::vector<ThreadSpan>& threads) {
  for (const ThreadSpan& span : threads) {
    json->Open('{').Key("thread").Number(span.thread).Key("slices").Number(span.slices);
    json->Key("start_ns").Number(span.start).Key("end_ns").Number(span.end).Close('}');
  }
}

}  // namespace lathe_run
