/// The workloads, each written once for all subjects, one file each. `all_work` lists them.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "subjects/subject.h"
#include "workloads/metric.h"

namespace relay::bench {

/// The size of a run.
struct Scale {
  std::string program;   // agent-relay, for workloads that measure only it
  double seconds = 1.0;  // per measurement
  std::size_t backlog = 100'000;
  std::vector<std::size_t> histories = {0, 100'000, 1'000'000};
  std::size_t starts = 40;  // number of starts to measure
  double idle_seconds = 10.0;
};

/// A participant of a workload that has no server.
struct Candidate {
  Traits traits;
  std::function<Result<std::vector<Outcome>>(const Scale&)> run;
};

struct Workload {
  std::string name;   // for `--only`
  std::string title;  // title of its table
  Metric headline;    // the metric of the ratios
  /// Why a subject cannot run it; empty when it can.
  std::function<std::optional<std::string>(const Traits&)> unfit_reason = {};
  std::function<Result<std::vector<Outcome>>(const Subject&, const Scale&)> run = {};
  std::string only_subject = {};           // if there is one
  int max_rounds = 100;                    // fewer for long, steady workloads
  std::vector<Candidate> candidates = {};  // in place of subjects, `unfit_reason` and `run`
  /// The subjects to compare with, one column each.
  std::vector<std::string> yardsticks = {"floor", "memory", "process", "power"};
};

std::vector<Workload> all_work();

// Values for `unfit_reason`.
std::optional<std::string> all_can(const Traits& subject);
std::optional<std::string> needs_stored_messages(const Traits& subject);
/// For a workload of one subject; the others get no note.
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
Workload extraction_work();
Workload keystroke_work();
Workload feed_work();

}  // namespace relay::bench
