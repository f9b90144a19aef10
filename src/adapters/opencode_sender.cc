#include "adapters/opencode_sender.h"

#include "base/format.h"
#include "base/json.h"
#include "text/sanitize.h"
#include "text/utf8.h"

namespace relay::adapters {
namespace {

using net::HttpErrc;
using net::HttpResponse;
using protocol::DeliveryMode;

constexpr int kMissingTwice = 2;  // a post may still be under way when it is looked up for the first time
constexpr std::size_t kMaxRefusalBytes = 200;
constexpr net::HttpLimits kLimits{.body_bytes = 8U << 20U, .response = Millis{60'000}};

bool is_good(const Result<HttpResponse>& answer) { return answer && answer->status >= 200 && answer->status < 300; }
bool is_refused(const Result<HttpResponse>& answer) { return answer && answer->status >= 400 && answer->status < 500; }

Failure as_failure(std::string_view doing, const Result<HttpResponse>& answer) {
  return fail(format("OpenCode's server {}: {}", doing, answer ? refusal(*answer) : answer.error().message()));
}

}  // namespace

std::string refusal(const HttpResponse& answer) {
  std::string says;
  if (const auto body = parse_json_object(answer.body)) {
    const auto* data = object_member(*body, "data");
    says = string_member(data != nullptr ? *data : *body, "message").value_or("");
  }
  return format("{}{}{}", answer.status, says.empty() ? "" : " ",
                text::sanitize_line(text::truncate_utf8(says, kMaxRefusalBytes)));
}

OpenCodeIds::Pair OpenCodeIds::next(WallMs now) {
  constexpr std::string_view kLetters = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
  constexpr int kRandomLetters = 14;
  last_ = std::max(last_ + 1, (static_cast<std::uint64_t>(now) << 12U) + 1);
  auto tail = format("_{:012x}", last_ & 0xFFFF'FFFF'FFFFULL);
  for (int i = 0; i < kRandomLetters; ++i) tail.push_back(kLetters[random_.below(kLetters.size())]);
  return {"msg" + tail, "prt" + tail};
}

OpenCodeSender::OpenCodeSender(net::AsioLoop& loop, net::HttpClient& client, OpenCodeEvents& talk,
                               const OpenCodeLaunch& launch, Millis look_again)
    : loop_{loop}, client_{client}, talk_{talk}, launch_{launch}, recheck_{look_again} {}

OpenCodeSender::~OpenCodeSender() = default;

void OpenCodeSender::speak(const NativeDelivery& words, Adapter::OnAccepted done) {
  const auto tell = [&](Result<void> outcome) {
    loop_.post([done = std::move(done), outcome = std::move(outcome), alive = lifetime_.watch()]() mutable {
      if (alive) done(std::move(outcome));
    });
  };
  if (!words.delivery.empty() && handed_.has(words.delivery)) return tell({});
  if (waiting_.size() >= kMaxWaiting) return tell(fail("too many messages wait for OpenCode's server"));
  waiting_.push_back({.words = words, .done = std::move(done)});
  go_on();
}

void OpenCodeSender::on_online() {
  online_ = true;
  go_on();
}

void OpenCodeSender::give_up(const std::string& why) {
  online_ = under_way_ = false;
  exchange_.reset();
  timer_.reset();
  auto waiting = std::exchange(waiting_, {});
  for (auto& each : waiting) each.done(each.posted ? Result<void>{} : fail(why));
}

void OpenCodeSender::go_on() {
  if (!online_ || under_way_ || waiting_.empty()) return;
  under_way_ = true;
  auto& first = waiting_.front();
  if (first.posted) return look_up_soon();
  if (talk_.session().empty()) return make_session();
  if (first.words.mode == DeliveryMode::Immediate && talk_.busy()) return abort_turn();
  post();
}

void OpenCodeSender::make_session() {
  ask("POST", "/session", "{}", [this](Result<HttpResponse> answer) {
    const auto made = is_good(answer) ? parse_json_object(answer->body) : Result<json::object>{};
    const auto id = made ? string_member(*made, "id").value_or("") : "";
    if (!is_good(answer) || id.empty()) return finish(as_failure("made no session", answer));
    talk_.set_session(id);
    show_session();
  });
}

/// Leaves what the person has typed where it is. A session that is not shown still gets the message.
void OpenCodeSender::show_session() {
  ask("POST", "/tui/select-session", json::serialize(json::object{{"sessionID", talk_.session()}}),
      [this](const Result<HttpResponse>&) { post(); });
}

void OpenCodeSender::abort_turn() {
  ask("POST", format("/session/{}/abort", talk_.session()), "{}", [this](const Result<HttpResponse>& answer) {
    if (!is_good(answer)) return finish(as_failure("did not interrupt the turn", answer));
    post();
  });
}

void OpenCodeSender::post() {
  if (talk_.session().empty()) return make_session();  // the person has left the one whose turn was aborted
  auto& first = waiting_.front();
  first.session = talk_.session();
  first.ids = ids_.next(loop_.now().wall);
  first.posted = true;
  ask("POST", format("/session/{}/prompt_async", first.session), body(first),
      [this](const Result<HttpResponse>& answer) { on_posted(answer); });
}

void OpenCodeSender::on_posted(const Result<HttpResponse>& answer) {
  auto& first = waiting_.front();
  if (is_good(answer)) return finish({});
  if (is_refused(answer) || (!answer && is(answer.error(), HttpErrc::NoConnection))) {
    if (answer && answer->status == 404) talk_.forget_session(first.session);
    return finish(as_failure("did not take the message", answer));
  }
  look_up_soon();
}

void OpenCodeSender::look_up_soon() {
  timer_ = loop_.after(recheck_, [this] { look_up(); });
}

void OpenCodeSender::look_up() {
  const auto& first = waiting_.front();
  ask("GET", format("/session/{}/message/{}", first.session, first.ids.message), "",
      [this](const Result<HttpResponse>& answer) {
        if (is_good(answer)) return finish({});
        const bool missing = answer && answer->status == 404;
        if (missing && ++waiting_.front().missing >= kMissingTwice)
          return finish(fail("OpenCode's server broke off and has no such message"));
        look_up_soon();
      });
}

void OpenCodeSender::finish(Result<void> outcome) {
  auto first = std::move(waiting_.front());
  waiting_.pop_front();
  under_way_ = false;
  if (outcome && !first.words.delivery.empty()) handed_.add(first.words.delivery);
  const auto alive = lifetime_.watch();
  first.done(std::move(outcome));
  if (alive) go_on();
}

void OpenCodeSender::ask(std::string method, std::string target, std::string json, OnResponse done) {
  exchange_ = client_.send({std::move(method), std::move(target), std::move(json)}, kLimits, std::move(done));
}

/// Agent and model are the ones the person used last.
std::string OpenCodeSender::body(const PendingPost& handing) const {
  auto choice = talk_.choice();
  if (choice.agent.empty()) choice.agent = launch_.agent;
  if (choice.model.empty() && launch_.model.contains('/')) {
    choice.provider = launch_.model.substr(0, launch_.model.find('/'));
    choice.model = launch_.model.substr(choice.provider.size() + 1);
  }
  json::object body{{"messageID", handing.ids.message}};
  if (!choice.agent.empty()) body["agent"] = choice.agent;
  if (!choice.model.empty()) body["model"] = json::object{{"providerID", choice.provider}, {"modelID", choice.model}};
  if (!choice.variant.empty()) body["variant"] = choice.variant;
  if (handing.words.mode == DeliveryMode::NextMessage) body["noReply"] = true;
  const json::object part{{"id", handing.ids.part}, {"type", "text"}, {"text", handing.words.text}};
  body["parts"] = json::array{part};
  return json::serialize(body);
}

}  // namespace relay::adapters
