#include "workloads/workload.h"

namespace relay::bench {

std::vector<Workload> all_work() {
  return {sequential_work(), windowed_work(),   fan_in_work(),    broadcast_work(), pairs_work(),   backlog_work(),
          resume_work(),     idle_work(),       start_work(),     agents_work(),    history_work(), fairness_work(),
          pipeline_work(),   extraction_work(), keystroke_work(), feed_work()};
}

std::optional<std::string> all_can(const Traits&) { return std::nullopt; }

std::optional<std::string> needs_stored_messages(const Traits& subject) {
  if (subject.keeps_messages) return std::nullopt;
  return "stores nothing for an offline receiver";
}

std::function<std::optional<std::string>(const Traits&)> only_for(std::string name) {
  return [name = std::move(name)](const Traits& subject) -> std::optional<std::string> {
    if (subject.name == name) return std::nullopt;
    return std::string{};
  };
}

}  // namespace relay::bench
