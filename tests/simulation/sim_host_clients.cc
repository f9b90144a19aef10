#include "tests/simulation/sim_host_clients.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "base/format.h"

namespace relay::simulation {
namespace {

using Kind = host::testing::AgentKey::Kind;

constexpr Millis kMaxAnswer{10'000};

/// The number of a message by its body, `m17…`; 0: of another sender.
std::uint64_t number_of(std::string_view body) {
  std::uint64_t number = 0;
  if (body.starts_with('m')) std::from_chars(body.data() + 1, body.data() + body.size(), number);
  return number;
}

}  // namespace

void SimHostClients::violate(const std::string& what) { checker_.violate(format("{}: {}", agent_, what)); }

void SimHostClients::call(std::string body, Done done) {
  const auto number = ++last_call_;
  auto on_done = [this, number, done = std::move(done)](const Result<json::object>& response) {
    loop_.post([this, number] { calls_.erase(number); });
    done(response);
  };
  calls_[number] = std::make_unique<host::HostCall>(
      loop_, network_,
      host::HostCallRequest{.agent = agent_, .socket = socket_, .body = std::move(body), .timeout = kMaxAnswer},
      std::move(on_done));
}

void SimHostClients::answer_prompt() {
  call(R"({"method":"prompts"})", [this](const Result<json::object>& response) {
    const auto* prompts = response ? array_member(*response, "prompts") : nullptr;
    if (prompts == nullptr || prompts->empty()) return;
    request_answer(prompts->at(random_.below(prompts->size())).as_object());
  });
}

void SimHostClients::request_answer(const json::object& prompt) {
  Answer answer{.number = last_call_ + 1,
                .summary = string_member(prompt, "summary").value_or(""),
                .approve = random_.below(2) == 0,
                .user_keys = user_keys_};
  const auto id = string_member(prompt, "id").value_or("");
  trace_.line("{}: a client answers {} ({}): {}", agent_, id, answer.summary, answer.approve ? "approve" : "deny");
  answers_.push_back(answer);
  call(format(R"({{"method":"answer","prompt":"{}","decision":"{}"}})", id, answer.approve ? "approve" : "deny"),
       [this, number = answer.number](const Result<json::object>& response) { on_answered(number, response); });
}

void SimHostClients::on_answered(std::uint64_t number, const Result<json::object>& response) {
  const auto found = std::ranges::find(answers_, number, &Answer::number);
  if (found == answers_.end()) return;  // its host has ended
  const auto answer = *found;
  trace_.line("{}: the answer to {}: {}", agent_, answer.summary, response ? "done" : response.error().message());
  // Without a response the host may still press its keys.
  if (!response && !protocol::nack_code_of(response.error())) return;
  answers_.erase(found);
  if (!response) return;
  ++answered_;
  const auto closed =
      std::ranges::find_if(closed_, [&](const auto& dialog) { return answer.summary.contains(dialog.first); });
  if (closed == closed_.end()) return violate(format("{} is answered, and its dialog is open", answer.summary));
  if (closed->second != answer.approve && user_keys_ == answer.user_keys)
    violate(format("{} is answered with the wrong choice", answer.summary));
}

bool SimHostClients::explains(const host::testing::AgentKey& key, const host::testing::AgentView& shown) {
  for (auto& answer : answers_) {
    if (!answer.summary.contains(shown.command)) continue;
    if (key.kind == Kind::Up || key.kind == Kind::Down) return true;
    if (key.kind != Kind::Enter || answer.entered || shown.approve_marked != answer.approve) continue;
    answer.entered = true;
    return true;
  }
  return false;
}

void SimHostClients::fetch() {
  const auto limit = 1 + random_.below(4);
  call(format(R"({{"method":"fetch","take":false,"limit":{}}})", limit), [this](const Result<json::object>& response) {
    if (!response) return;
    const auto* messages = array_member(*response, "messages");
    if (messages == nullptr) return violate("a response to fetch has no messages");
    if (!messages->empty()) take(*messages);
  });
}

void SimHostClients::take(const json::array& messages) {
  std::map<std::string, std::uint64_t> numbers;
  json::array ids;
  for (const auto& message : messages) {
    const auto id = string_member(message.as_object(), "id").value_or("");
    const auto body = string_member(message.as_object(), "body").value_or("");
    const auto number = number_of(body);
    if (number == 0) continue;
    if (body != checker_.sent_body(number)) violate(format("m{} is fetched with another body", number));
    read_.insert(number);
    numbers[id] = number;
    ids.emplace_back(id);
  }
  if (ids.empty()) return;  // without ids, any would be taken
  call(format(R"({{"method":"fetch","take":true,"ids":{}}})", json::serialize(ids)),
       [this, numbers = std::move(numbers)](const Result<json::object>& response) {
         const auto* taken = response ? array_member(*response, "messages") : nullptr;
         if (taken == nullptr) return;
         for (const auto& message : *taken) {
           const auto found = numbers.find(string_member(message.as_object(), "id").value_or(""));
           if (found == numbers.end()) return violate("a message is taken that was not requested");
           ++fetched_;
           on_fetched_(found->second);
         }
       });
}

void SimHostClients::send_input() {
  call(R"({"method":"input","text":"a text of the user"})", [this](const Result<json::object>& response) {
    trace_.line("{}: input by a client: {}", agent_, response ? "written" : response.error().message());
  });
}

}  // namespace relay::simulation
