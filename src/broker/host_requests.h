/// Requests to the hosts of agents, executed by the daemon. Each is answered once.
/// Threading: the broker's.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "broker/context.h"
#include "broker/pending_results.h"

namespace relay::broker {

class HostRequests {
 public:
  explicit HostRequests(Context& context) : context_{context} {}

  /// The result is the process id of the new host.
  void start(HostSpec spec, PendingResults<std::int32_t>::Then then) {
    const QueryId id = add(started_, std::move(then));
    context_.emit(StartHost{id, std::move(spec)});
  }
  void stop(std::string name, Release release, PendingResults<void>::Then then) {
    const QueryId id = add(done_, std::move(then));
    context_.emit(StopHost{id, std::move(name), std::move(release)});
  }
  void send_input(std::string name, std::string data, PendingResults<void>::Then then) {
    const QueryId id = add(done_, std::move(then));
    context_.emit(SendHostInput{id, std::move(name), std::move(data)});
  }
  void list(PendingResults<std::vector<Worker>>::Then then) {
    const QueryId id = add(listed_, std::move(then));
    context_.emit(ListHosts{id});
  }
  void answer_prompt(std::string agent, std::string request, PromptAnswer answer, std::string by,
                     PendingResults<void>::Then then) {
    const QueryId id = add(done_, std::move(then));
    context_.emit(AnswerPrompt{id, std::move(agent), std::move(request), std::move(answer), std::move(by)});
  }

  void on_started(QueryId id, Result<std::int32_t> pid) { started_.complete(id, std::move(pid)); }
  void on_done(QueryId id, Result<void> result) { done_.complete(id, std::move(result)); }
  void on_listed(QueryId id, Result<std::vector<Worker>> workers) { listed_.complete(id, std::move(workers)); }

 private:
  template <class Value>
  QueryId add(PendingResults<Value>& pending, PendingResults<Value>::Then then) {
    const QueryId id = context_.next_query();
    pending.add(id, std::move(then));
    return id;
  }

  Context& context_;
  PendingResults<std::int32_t> started_;
  PendingResults<void> done_;
  PendingResults<std::vector<Worker>> listed_;
};

}  // namespace relay::broker
