#include <map>
#include <memory>

#include "api/events/live.h"
#include "api/handlers/handlers.h"
#include "api/handlers/workspace_bodies.h"
#include "api/http/docs_page.h"
#include "api/http/openapi.h"
#include "base/format.h"

namespace relay::api {
namespace {

using protocol::MessageType;

/// A metric of the Prometheus text format, with a value per label set.
struct Metric {
  std::string_view kind, help;
  std::map<std::string, std::int64_t> values = {};
};

struct Metrics {
  std::map<std::string_view, Metric> all = {
      {"agent_relay_agents_connected", {"gauge", "Connected agents."}},
      {"agent_relay_agents_known", {"gauge", "Known agents."}},
      {"agent_relay_messages_stored", {"gauge", "Messages in the store."}},
      {"agent_relay_deliveries_pending", {"gauge", "Pending deliveries."}},
      {"agent_relay_deliveries_dead", {"gauge", "Dead deliveries."}},
      {"agent_relay_event_readers", {"gauge", "Readers of events over HTTP, WebSockets included."}},
      {"agent_relay_event_sockets", {"gauge", "Open WebSockets."}},
      {"agent_relay_events_sent_total", {"counter", "Events sent, counted once per reader."}},
      {"agent_relay_event_readers_evicted_total", {"counter", "Readers evicted because they were too slow."}},
      {"agent_relay_event_readers_refused_total", {"counter", "Readers refused because of the limit."}},
      {"agent_relay_events_total", {"counter", "The number of the newest event."}},
      {"agent_relay_http_responses_total", {"counter", "HTTP responses by operation and status."}},
  };

  void set(std::string_view name, const std::string& labels, std::optional<std::int64_t> value) {
    if (value) all.at(name).values[labels] = *value;
  }
  [[nodiscard]] std::string text() const {
    std::string out;
    for (const auto& [name, metric] : all) {
      out += format("# HELP {} {}\n# TYPE {} {}\n", name, metric.help, name, metric.kind);
      for (const auto& [labels, value] : metric.values) out += format("{}{{{}}} {}\n", name, labels, value);
    }
    return out;
  }
};

void add_status(Metrics& metrics, const std::string& labels, const json::object& status) {
  metrics.set("agent_relay_agents_connected", labels, integer_member(status, "agentCount"));
  metrics.set("agent_relay_agents_known", labels, integer_member(status, "knownAgents"));
  metrics.set("agent_relay_deliveries_pending", labels, integer_member(status, "pending"));
  metrics.set("agent_relay_deliveries_dead", labels, integer_member(status, "dead"));
  if (const auto* storage = object_member(status, "storage"))
    metrics.set("agent_relay_messages_stored", labels, integer_member(*storage, "messages"));
}

void add_stream_counts(Metrics& metrics, const std::string& labels, const LiveStreams& live) {
  const auto counts = live.feed.counts();
  const auto set = [&](std::string_view name, std::uint64_t value) {
    metrics.set(name, labels, static_cast<std::int64_t>(value));
  };
  set("agent_relay_event_readers", counts.readers);
  set("agent_relay_event_sockets", live.sockets.count());
  set("agent_relay_events_sent_total", counts.sent);
  set("agent_relay_event_readers_evicted_total", counts.evicted);
  set("agent_relay_event_readers_refused_total", counts.refused);
}

}  // namespace

void get_health(Api& api, Call call) { call.answer(200, HealthBody{.version = api.facts.version}); }

void get_openapi(Api& api, Call call) { call.answer(200, openapi_document(api.facts.version)); }

void show_docs(Api& api, Call call) {
  const auto server = docs_server(call.request().headers.find("Host").value_or(""));
  call.answer_page(docs_page(openapi_document(api.facts.version), server), docs_policy());
}

void get_metrics(Api& api, Call call) {
  const auto metrics = std::make_shared<Metrics>();
  for (const auto& [key, count] : api.counters.counts())
    metrics->set("agent_relay_http_responses_total",
                 format("operation=\"{}\",status=\"{}\"", key.first.empty() ? "none" : key.first, key.second),
                 static_cast<std::int64_t>(count));
  for_each_workspace(
      api, std::move(call),
      [metrics](WorkspaceHandle workspace, Next next) {
        auto& client = workspace.client;
        const auto labels = format("workspace=\"{}\"", client.id());
        if (workspace.live != nullptr) add_stream_counts(*metrics, labels, *workspace.live);
        client.request(MessageType::Status, {},
                       [metrics, labels, &client, next = std::move(next)](Result<json::object> status) mutable {
                         if (!status) return next();
                         add_status(*metrics, labels, *status);
                         client.request(MessageType::EventsQuery, {{"limit", 1}, {"newest", true}},
                                        [metrics, labels, next = std::move(next)](Result<json::object> page) mutable {
                                          if (page)
                                            metrics->set("agent_relay_events_total", labels,
                                                         integer_member(*page, "newest"));
                                          next();
                                        });
                       });
      },
      [metrics](Call reply) { reply.answer_text("text/plain; version=0.0.4; charset=utf-8", metrics->text()); });
}

}  // namespace relay::api
