/// The kinds of work, each written once for all subjects. One file each; `all_work` is the list.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "subjects/subject.h"
#include "work/metric.h"

namespace relay::bench {

/// How much of it is done.
struct Scale {
  std::string program;   // ours, for the work that is about us alone
  double seconds = 1.0;  // of each measurement
  std::size_t backlog = 100'000;
  std::vector<std::size_t> histories = {0, 100'000, 1'000'000};
  std::size_t starts = 40;  // of a program, to know what its start costs
  double idle_seconds = 10.0;
};

struct Work {
  std::string name;   // as `--only` takes it
  std::string title;  // over its table
  Metric headline;    // the ratios are about this one
  std::function<bool(const Traits&)> fits;
  std::function<Result<std::vector<Outcome>>(const Subject&, const Scale&)> run;
  int most_rounds = 100;  // for work that is long and steady
};

std::vector<Work> all_work();

Work sequential_work();
Work windowed_work();

}  // namespace relay::bench
