/// Any events of OpenCode's server, one JSON object per line: no text, input or usage is reported twice, and every
/// closed prompt was open.
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "adapters/opencode_events.h"
#include "check.h"

namespace {

using namespace relay;
using namespace relay::adapters;

struct CountingListener final : Listener, OutputListener, DeliveryListener {
  OutputListener& output() override { return *this; }
  DeliveryListener& deliveries() override { return *this; }
  void on_assistant_text(std::string_view, std::string_view) override { ++count; }
  void on_model_input(std::string_view, std::string_view, std::string_view) override { ++count; }
  void on_state_reported() override {}
  void on_capabilities() override {}
  void on_prompt(const Prompt& prompt) override { FUZZ_CHECK(open.insert(prompt.id).second); }
  void on_prompt_closed(const std::string& id, const PromptOutcome&) override { FUZZ_CHECK(open.erase(id) == 1); }
  void on_usage(const TokenUsage& usage) override { FUZZ_CHECK(counted.insert(usage.id).second); }
  void on_event(const events::Event& event, WallMs) override {
    FUZZ_CHECK(events::read_event(events::type_of(event), events::members_of(event)).has_value());
    if (const auto* started = std::get_if<events::ItemStarted>(&event))
      FUZZ_CHECK(items.insert(started->item_id).second);
    if (const auto* completed = std::get_if<events::ItemCompleted>(&event))
      FUZZ_CHECK(items.contains(completed->item_id) && ended.insert(completed->item_id).second);
  }
  void on_failure(std::string_view, std::string_view) override {}
  void on_interface_failed(std::string_view, std::string) override {}
  void on_interface_recovered(std::string_view) override {}
  void on_returned(const std::vector<std::string>&, std::string_view) override {}
  std::string take_pending(protocol::DeliveryMode, std::size_t) override { return {}; }

  std::set<std::string> open, counted, items, ended;
  int count = 0;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  std::string_view text{reinterpret_cast<const char*>(bytes), size};
  CountingListener listener;
  OpenCodeEvents events{listener, 0};
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    if (const auto event = parse_json_object(text.substr(0, end))) {
      events.on_event(*event);
      const auto before = listener.count;
      events.on_event(*event);
      FUZZ_CHECK(listener.count == before);
    }
    if (const auto list = parse_json(text.substr(0, end)); list && list->is_array()) {
      events.on_messages(events.session(), list->get_array(), 1);
      events.on_prompts(list->get_array(), {});
      events.on_sessions(list->get_array(), true);
    }
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  const auto reported = events.reported_state();
  FUZZ_CHECK((reported.state == profiles::State::Blocked) == !listener.open.empty());
  return 0;
}
