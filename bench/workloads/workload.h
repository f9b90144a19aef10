/// The kinds of work, each written once for all subjects. One file each; `all_work` is the list.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "subjects/subject.h"
#include "workloads/metric.h"

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

/// Who does a kind of work that no server does.
struct Candidate {
  Traits traits;
  std::function<Result<std::vector<Outcome>>(const Scale&)> run;
};

struct Workload {
  std::string name;   // as `--only` takes it
  std::string title;  // over its table
  Metric headline;    // the ratios are about this one
  /// Why a subject does not do this work; nothing when it does.
  std::function<std::optional<std::string>(const Traits&)> unfit = {};
  std::function<Result<std::vector<Outcome>>(const Subject&, const Scale&)> run = {};
  std::string alone = {};                  // the one subject it is about
  int most_rounds = 100;                   // for work that is long and steady
  std::vector<Candidate> candidates = {};  // instead of all subjects, and of `unfit` and `run`
  /// With whom everybody is compared, a column each.
  std::vector<std::string> yardsticks = {"floor", "memory", "process", "power"};
};

std::vector<Workload> all_work();

// Answers to `unfit`.
std::optional<std::string> all_can(const Traits& subject);
std::optional<std::string> needs_kept_mail(const Traits& subject);
/// For work about one subject alone; nothing needs to be said about the others.
std::function<std::optional<std::string>(const Traits&)> only_for(std::string name);

Workload sequential_work();
Workload windowed_work();
Workload fan_in_work();
Workload broadcast_work();
Workload pairs_work();
Workload backlog_work();
Workload resume_work();
Workload idle_work();
Workload start_work();
Workload agents_work();
Workload history_work();
Workload fairness_work();
Workload pipeline_work();
Workload speech_work();
Workload keystroke_work();
Workload feed_work();

}  // namespace relay::bench
