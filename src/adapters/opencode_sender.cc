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

constexpr int kMaxMissing = 2;  // the post may still be in transit at the first lookup
constexpr std::size_t kMaxErrorBytes = 200;
constexpr net::HttpLimits kLimits{.body_bytes = 8U << 20U, .response = Millis{60'000}};

bool is_good(const Result<HttpResponse>& response) {
  return response && response->status >= 200 && response->status < 300;
}
bool is_rejected(const Result<HttpResponse>& response) {
  return response && response->status >= 400 && response->status < 500;
}

Failure as_failure(std::string_view doing, const Result<HttpResponse>& response) {
  return fail(format("OpenCode's server {}: {}", doing, response ? error_text(*response) : response.error().message()));
}

}  // namespace

std::string error_text(const HttpResponse& response) {
  std::string message;
  if (const auto body = parse_json_object(response.body)) {
    const auto* data = object_member(*body, "data");
    message = string_member(data != nullptr ? *data : *body, "message").value_or("");
  }
  return format("{}{}{}", response.status, message.empty() ? "" : " ",
                text::sanitize_line(text::truncate_utf8(message, kMaxErrorBytes)));
}

OpenCodeIds::Pair OpenCodeIds::next(WallMs now) {
  constexpr std::string_view kDigits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
  constexpr int kRandomDigits = 14;
  last_ = std::max(last_ + 1, (static_cast<std::uint64_t>(now) << 12U) + 1);
  auto tail = format("_{:012x}", last_ & 0xFFFF'FFFF'FFFFULL);
  for (int i = 0; i < kRandomDigits; ++i) tail.push_back(kDigits[random_.below(kDigits.size())]);
  return {"msg" + tail, "prt" + tail};
}

OpenCodeSender::OpenCodeSender(net::AsioLoop& loop, net::HttpClient& client, OpenCodeEvents& events,
                               const OpenCodeLaunch& launch, Millis lookup_delay)
    : loop_{loop}, client_{client}, events_{events}, launch_{launch}, lookup_delay_{lookup_delay} {}

OpenCodeSender::~OpenCodeSender() = default;

void OpenCodeSender::deliver(const NativeDelivery& delivery, Adapter::OnAccepted done) {
  const auto complete = [&](Result<void> outcome) {
    loop_.post([done = std::move(done), outcome = std::move(outcome), alive = lifetime_.watch()]() mutable {
      if (alive) done(std::move(outcome));
    });
  };
  if (!delivery.key.empty() && accepted_.has(delivery.key)) return complete({});
  if (queue_.size() >= kMaxQueued) return complete(fail("too many messages are pending for OpenCode's server"));
  queue_.push_back({.delivery = delivery, .done = std::move(done)});
  send_next();
}

void OpenCodeSender::on_online() {
  online_ = true;
  send_next();
}

void OpenCodeSender::give_up(const std::string& reason) {
  online_ = in_progress_ = false;
  exchange_.reset();
  timer_.reset();
  auto queue = std::exchange(queue_, {});
  for (auto& each : queue) each.done(each.posted ? Result<void>{} : fail(reason));
}

void OpenCodeSender::send_next() {
  if (!online_ || in_progress_ || queue_.empty()) return;
  in_progress_ = true;
  auto& first = queue_.front();
  if (first.posted) return look_up_soon();
  if (events_.session().empty()) return create_session();
  if (first.delivery.mode == DeliveryMode::Immediate && events_.is_busy()) return abort_turn();
  post();
}

void OpenCodeSender::create_session() {
  request("POST", "/session", "{}", [this](Result<HttpResponse> response) {
    const auto session = is_good(response) ? parse_json_object(response->body) : Result<json::object>{};
    const auto id = session ? string_member(*session, "id").value_or("") : "";
    if (!is_good(response) || id.empty()) return finish(as_failure("created no session", response));
    events_.set_session(id);
    select_session();
  });
}

/// The user's draft stays in the composer. A session that is not shown still gets the message.
void OpenCodeSender::select_session() {
  request("POST", "/tui/select-session", json::serialize(json::object{{"sessionID", events_.session()}}),
          [this](const Result<HttpResponse>&) { post(); });
}

void OpenCodeSender::abort_turn() {
  request("POST", format("/session/{}/abort", events_.session()), "{}", [this](const Result<HttpResponse>& response) {
    if (!is_good(response)) return finish(as_failure("did not interrupt the turn", response));
    post();
  });
}

void OpenCodeSender::post() {
  if (events_.session().empty()) return create_session();  // the user has left the session of the aborted turn
  auto& first = queue_.front();
  first.session = events_.session();
  first.ids = ids_.next(loop_.now().wall);
  first.posted = true;
  request("POST", format("/session/{}/prompt_async", first.session), body(first),
          [this](const Result<HttpResponse>& response) { on_posted(response); });
}

void OpenCodeSender::on_posted(const Result<HttpResponse>& response) {
  auto& first = queue_.front();
  if (is_good(response)) return finish({});
  if (is_rejected(response) || (!response && is(response.error(), HttpErrc::NoConnection))) {
    if (response && response->status == 404) events_.forget_session(first.session);
    return finish(as_failure("did not accept the message", response));
  }
  look_up_soon();
}

void OpenCodeSender::look_up_soon() {
  timer_ = loop_.after(lookup_delay_, [this] { look_up(); });
}

void OpenCodeSender::look_up() {
  const auto& first = queue_.front();
  request("GET", format("/session/{}/message/{}", first.session, first.ids.message), "",
          [this](const Result<HttpResponse>& response) {
            if (is_good(response)) return finish({});
            const bool missing = response && response->status == 404;
            if (missing && ++queue_.front().missing >= kMaxMissing)
              return finish(fail("OpenCode's server lost the connection and has no such message"));
            look_up_soon();
          });
}

void OpenCodeSender::finish(Result<void> outcome) {
  auto first = std::move(queue_.front());
  queue_.pop_front();
  in_progress_ = false;
  if (outcome && !first.delivery.key.empty()) accepted_.add(first.delivery.key);
  const auto alive = lifetime_.watch();
  first.done(std::move(outcome));
  if (alive) send_next();
}

void OpenCodeSender::request(std::string method, std::string target, std::string json, OnResponse done) {
  exchange_ = client_.send({std::move(method), std::move(target), std::move(json)}, kLimits, std::move(done));
}

/// Agent and model are those of the last user message.
std::string OpenCodeSender::body(const PendingPost& pending) const {
  auto selection = events_.selection();
  if (selection.agent.empty()) selection.agent = launch_.agent;
  if (selection.model.empty() && launch_.model.contains('/')) {
    selection.provider = launch_.model.substr(0, launch_.model.find('/'));
    selection.model = launch_.model.substr(selection.provider.size() + 1);
  }
  json::object body{{"messageID", pending.ids.message}};
  if (!selection.agent.empty()) body["agent"] = selection.agent;
  if (!selection.model.empty())
    body["model"] = json::object{{"providerID", selection.provider}, {"modelID", selection.model}};
  if (!selection.variant.empty()) body["variant"] = selection.variant;
  if (pending.delivery.mode == DeliveryMode::NextMessage) body["noReply"] = true;
  const json::object part{{"id", pending.ids.part}, {"type", "text"}, {"text", pending.delivery.text}};
  body["parts"] = json::array{part};
  return json::serialize(body);
}

}  // namespace relay::adapters
