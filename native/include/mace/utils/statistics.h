// Sums up what RunMetadata says of many runs, and writes tables of it to the log.
#ifndef MACE_UTILS_STATISTICS_H_
#define MACE_UTILS_STATISTICS_H_

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iomanip>
#include <limits>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "mace/public/mace.h"
#include "mace/utils/logging.h"
#include "mace/utils/string_util.h"

namespace mace {
namespace benchmark {

// Multiplications of one run of an operator; 0 for those that are not counted.
inline int64_t StatMACs(const std::string& op_type, const std::vector<int64_t>& filter_shape,
                        const std::vector<int64_t>& output_shape) {
  int64_t outputs = 1, filter = 1;
  for (const int64_t size : output_shape) outputs *= size;
  if (op_type == "BatchNorm") return outputs;
  if (filter_shape.empty()) return 0;
  for (size_t i = 1; i < filter_shape.size(); ++i) filter *= filter_shape[i];
  if (op_type == "Conv2D" || op_type == "Deconv2D" || op_type == "FullyConnected") return outputs * filter;
  if (op_type == "DepthwiseConv2d" && filter_shape.size() == 4) return outputs * filter_shape[2] * filter_shape[3];
  return op_type == "MatMul" ? outputs * filter_shape.back() : 0;
}

template <typename IntType>
std::string IntToString(const IntType value) {
  std::string text = MakeString(value);
  const size_t first = text[0] == '-' ? 1 : 0;
  for (size_t at = text.size(); at > first + 3;) text.insert(at -= 3, 1, ',');
  return text;
}

template <typename FloatType>
std::string FloatToString(const FloatType value, const int32_t precision) {
  std::stringstream stream;
  stream << std::fixed << std::setprecision(precision) << value;
  return stream.str();
}

// Times in microseconds.
template <typename T>
class TimeInfo {
 public:
  int64_t round() const { return round_; }
  T first() const { return first_; }
  T sum() const { return sum_; }
  double avg() const {
    return round_ == 0 ? std::numeric_limits<double>::quiet_NaN()
                       : static_cast<double>(sum_) / static_cast<double>(round_);
  }
  double std_deviation() const {
    if (round_ == 0) return 0;
    const double variance = squares_ / static_cast<double>(round_) - avg() * avg();
    return variance > 0 ? std::sqrt(variance) : 0;
  }

  void UpdateTime(const T time) {
    if (round_ == 0) first_ = least_ = most_ = time;
    last_ = time;
    least_ = std::min(least_, time);
    most_ = std::max(most_, time);
    sum_ += time;
    squares_ += static_cast<double>(time) * static_cast<double>(time);
    ++round_;
  }

  std::string ToString(const std::string& title) const {
    std::vector<std::string> row = {IntToString(round_)};
    for (const double micros : {static_cast<double>(first_), static_cast<double>(last_), static_cast<double>(least_),
                                static_cast<double>(most_), avg(), std_deviation()})
      row.push_back(FloatToString(micros / 1000, 3));
    return string_util::StringFormatter::Table(
        title, {"round", "first(ms)", "curr(ms)", "min(ms)", "max(ms)", "avg(ms)", "std(ms)"}, {row});
  }

 private:
  int64_t round_ = 0;
  T first_ = 0;
  T last_ = 0;
  T least_ = 0;
  T most_ = 0;
  T sum_ = 0;
  double squares_ = 0;
};

enum Metric { NAME, RUN_ORDER, COMPUTATION_TIME };

class OpStat {
 public:
  void StatMetadata(const RunMetadata& meta_data) {
    int64_t total = 0;
    for (const OperatorStats& op : meta_data.op_stats) {
      const auto found = records_.emplace(op.operator_name, Record());
      Record& record = found.first->second;
      if (found.second) {
        record.op = op;
        record.order = records_.size();
        if (!op.output_shape.empty()) record.macs = StatMACs(op.type, op.args.kernels, op.output_shape[0]);
      }
      const int64_t time = op.stats.end_micros - op.stats.start_micros;
      record.start.UpdateTime(op.stats.start_micros - meta_data.op_stats[0].stats.start_micros);
      record.time.UpdateTime(time);
      total += time;
    }
    total_.UpdateTime(total);
  }

  // To the log, at level INFO.
  void PrintStat() const {
    std::stringstream stream;
    if (!records_.empty()) {
      stream << StatByMetric(RUN_ORDER, records_.size()) << "\n";
      stream << StatByMetric(COMPUTATION_TIME, 10) << "\n";
      stream << StatByOpType() << "\n";
      stream << total_.ToString("Summary of Ops' Stat") << "\n";
    }
    stream << records_.size() << " ops total.\n";
    for (std::string line; std::getline(stream, line);) LOG(INFO) << line;
  }

 private:
  struct Record {
    OperatorStats op;
    int64_t macs = 0;
    size_t order = 0;
    TimeInfo<int64_t> start;
    TimeInfo<int64_t> time;
  };

  struct TypeSum {
    std::string type;
    int64_t count = 0;
    int64_t macs = 0;
    double micros = 0;
  };

  std::string Share(double micros) const {
    return FloatToString(total_.sum() == 0 ? 0. : micros * 100 / total_.avg(), 3);
  }

  static std::string Speed(int64_t macs, double micros) {
    return FloatToString(micros > 0 ? static_cast<double>(macs) * 1e-3 / micros : 0., 3);
  }

  static std::string Shapes(const std::vector<std::vector<int64_t>>& shapes) {
    std::string text;
    for (const auto& shape : shapes) text.append(text.empty() ? "" : ":").append(MakeString(shape));
    return text;
  }

  std::string StatByMetric(const Metric metric, const size_t most) const {
    std::vector<const Record*> records;
    for (const auto& record : records_) records.push_back(&record.second);
    std::sort(records.begin(), records.end(), [&](const Record* a, const Record* b) {
      return metric == RUN_ORDER ? a->order < b->order : a->time.avg() > b->time.avg();
    });
    records.resize(std::min(records.size(), most));
    std::vector<std::vector<std::string>> rows;
    double passed = 0;
    for (const Record* record : records) {
      const double micros = record->time.avg();
      passed += micros;
      const ConvPoolArgs& args = record->op.args;
      rows.push_back({record->op.type, FloatToString(record->start.avg() / 1000, 3),
                      FloatToString(static_cast<double>(record->time.first()) / 1000, 3),
                      FloatToString(micros / 1000, 3), Share(micros), Share(passed), Speed(record->macs, micros),
                      MakeString(args.strides), MakeString(args.paddings), MakeString(args.kernels),
                      Shapes(record->op.output_shape), MakeString(args.dilations), record->op.operator_name});
    }
    const std::string title = metric == RUN_ORDER ? "Sort by Run Order" : "Sort by Computation Time";
    return string_util::StringFormatter::Table(title,
                                               {"Op Type", "Start", "First", "Avg(ms)", "%", "cdf%", "GMACPS", "Stride",
                                                "Pad", "Filter Shape", "Output Shape", "Dilation", "name"},
                                               rows);
  }

  std::string StatByOpType() const {
    std::map<std::string, TypeSum> sums;
    for (const auto& record : records_) {
      TypeSum& sum = sums[record.second.op.type];
      sum.type = record.second.op.type;
      sum.count += 1;
      sum.macs += record.second.macs;
      sum.micros += record.second.time.avg();
    }
    std::vector<TypeSum> sorted;
    for (const auto& sum : sums) sorted.push_back(sum.second);
    std::sort(sorted.begin(), sorted.end(), [](const TypeSum& a, const TypeSum& b) { return a.micros > b.micros; });
    std::vector<std::vector<std::string>> rows;
    double passed = 0;
    for (const TypeSum& sum : sorted) {
      passed += sum.micros;
      rows.push_back({sum.type, IntToString(sum.count), FloatToString(sum.micros / 1000, 3), Share(sum.micros),
                      Share(passed), IntToString(sum.macs), Speed(sum.macs, sum.micros)});
    }
    return string_util::StringFormatter::Table("Stat by Op Type",
                                               {"Op Type", "Count", "Avg(ms)", "%", "cdf%", "MACs", "GMACPS"}, rows);
  }

  std::map<std::string, Record> records_;
  TimeInfo<int64_t> total_;
};

}  // namespace benchmark
}  // namespace mace

#endif  // MACE_UTILS_STATISTICS_H_
