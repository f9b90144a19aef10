#include "adapters/opencode.h"

#include <algorithm>
#include <limits>
#include <map>

#include "adapters/opencode_events.h"
#include "adapters/opencode_launch.h"
#include "adapters/opencode_sender.h"
#include "base/format.h"
#include "hooks/json_repair.h"
#include "net/event_stream.h"

namespace relay::adapters {
namespace {

using net::HttpResponse;
using protocol::DeliveryMode;

constexpr std::size_t kMaxHeldEvents = 20'000;
constexpr net::HttpLimits kAnswerLimits{.connect = Millis{2'000}, .response = Millis{4'000}};  // the user is waiting
constexpr net::HttpLimits kRequestLimits{.body_bytes = 64U << 20U};  // a hundred messages with their tools' output
constexpr WallMs kNever = std::numeric_limits<WallMs>::max();

/// The choices in an answer, which lists several with ", "; else the answer as free text.
json::array selected_choices(const Question& question, const std::string& answer) {
  const auto is_choice = [&](const std::string& text) {
    return std::ranges::find(question.choices, text) != question.choices.end();
  };
  if (!question.multiple || is_choice(answer)) return {answer};
  std::vector<std::string> choices;
  for (std::size_t at = 0; at <= answer.size();) {
    const auto comma = std::min(answer.find(", ", at), answer.size());
    choices.push_back(answer.substr(at, comma - at));
    at = comma + 2;
  }
  if (!std::ranges::all_of(choices, is_choice)) return {answer};
  return json::array(choices.begin(), choices.end());
}

/// Output of tools may contain half surrogate pairs.
Result<json::value> read_json(std::string_view text) {
  if (auto value = parse_json(text)) return value;
  return parse_json(hooks::repair_json(text));
}

class OpenCode final : public Adapter, net::HttpStreamListener {
 public:
  OpenCode(net::AsioLoop& loop, const OpenCodeTimeouts& timeouts) : loop_{loop}, timeouts_{timeouts} {}

  void prepare(pty::Command& command, const LaunchContext&) override {
    SystemRandom random;
    auto launch = configure_server(command, random);
    if (launch)
      launch_ = *std::move(launch);
    else
      start_error_ = launch.error().message();
  }

  void start(Listener& listener, pid_t) override {
    listener_ = &listener;
    if (!launch_) {
      timer_ = loop_.after(Millis{0}, [this] { listener_->on_interface_failed(via::kServer, start_error_); });
      return;
    }
    client_ = std::make_unique<net::HttpClient>(loop_, launch_->endpoint);
    events_ = std::make_unique<OpenCodeEvents>(listener, loop_.now().wall);
    events_->set_session(launch_->session);
    sender_ = std::make_unique<OpenCodeSender>(loop_, *client_, *events_, *launch_, timeouts_.recheck);
    connect_error_ = format("OpenCode's server at port {} has not responded yet", launch_->endpoint.port);
    timeout_ = loop_.after(timeouts_.start_timeout, [this] { give_up(); });
    retry_ = timeouts_.first_retry;
    timer_ = loop_.after(retry_, [this] { connect(); });
  }

  /// Deliveries to a server that is still starting are queued, not typed.
  [[nodiscard]] NativeCapabilities capabilities() const override {
    NativeCapabilities can;
    if (!sender_ || given_up_) return can;
    if (usable_) can.output = can.prompts = can.usage = via::kServer;
    if (other_session_shown_) return can;
    if (usable_) can.state = via::kServer;
    can.by(DeliveryMode::Immediate) = {DeliveryTiming::Anytime, via::kServer};  // the turn is aborted first
    can.by(DeliveryMode::OnIdle) = {DeliveryTiming::WhenIdle, via::kServer};
    can.by(DeliveryMode::NextMessage) = {DeliveryTiming::WhenIdle,
                                         via::kServer};  // during a turn the model would answer it at once
    can.by(DeliveryMode::NextToolCall) = {DeliveryTiming::WhenWorking,
                                          via::kServer};  // the model sees it with the tool's result
    return can;
  }

  [[nodiscard]] std::optional<ReportedState> reported_state() const override {
    if (phase_ != Phase::Online || !drawn_) return std::nullopt;
    auto reported = events_->reported_state();
    if (other_session_shown_ && reported.state != profiles::State::Blocked) return std::nullopt;
    return reported;
  }

  /// The server is ready before the screen, and a session selected before is not shown.
  void on_state(profiles::State state) override { drawn_ = drawn_ || state != profiles::State::Unknown; }

  /// A session is left only after it was on the screen: a new one is not drawn yet.
  void on_window_title(std::string_view title, bool start_page) override {
    if (!events_) return;
    title_ = title;
    if (!start_page)
      shown_session_ = events_->session();
    else if (!events_->session().empty() && shown_session_ == events_->session())
      events_->leave_session();
    check_title();
  }

  void on_agent_exit() override {
    if (events_) events_->on_agent_exit(loop_.now().wall);
  }

  void deliver(const NativeDelivery& delivery, OnAccepted done) override {
    if (sender_ && !given_up_) return sender_->deliver(delivery, std::move(done));
    loop_.post([done = std::move(done)]() mutable { done(fail("OpenCode's server cannot be reached")); });
  }

  void answer(const std::string& prompt, const PromptAnswer& answer, OnAnswered done) override;

 private:
  enum class Phase : std::uint8_t { Offline, Syncing, Online };
  using OnJson = std::move_only_function<void(const json::value&)>;

  void on_header(int status, std::string_view) override {
    if (status == 200) return;
    const auto reason = status == 401 ? std::string{"it rejects the password; another program may use the port"}
                                      : format("its event stream has status {}", status);
    disconnect(format("OpenCode's server at port {}: {}", launch_->endpoint.port, reason));
  }

  void on_chunk(std::string_view bytes) override {
    for (const auto& event : event_parser_.feed(bytes)) {
      if (!stream_) return;
      if (auto data = read_json(event.data); data && data->is_object()) on_event(std::move(data->get_object()));
    }
  }

  void on_end(Result<void> how) override {
    disconnect(how ? std::string{"OpenCode's server ended its event stream"} : how.error().message());
  }

  void connect() {
    event_parser_ = net::EventStream{};
    stream_ = client_->stream({.target = "/event"},
                              {.response = timeouts_.response, .idle_timeout = timeouts_.idle_timeout}, *this);
  }

  /// Events that arrive during the synchronization are newer than its responses, and are held.
  void on_event(json::object event) {
    if (phase_ == Phase::Online) {
      events_->on_event(event);
      check_title();
      return report_resolved();
    }
    if (phase_ == Phase::Syncing) {
      if (held_.size() >= kMaxHeldEvents)
        return disconnect("OpenCode's server sent too many events during the synchronization");
      return held_.push_back(std::move(event));
    }
    phase_ = Phase::Syncing;  // the first event: none is missed after it
    request_sessions();
  }

  void get(std::string target, OnJson done);
  void request_sessions();
  void request_state();
  void request_messages();
  void go_online();
  void report_resolved();
  void check_title();
  void on_other_session_shown();
  void disconnect(std::string reason);
  void give_up();

  net::AsioLoop& loop_;
  OpenCodeTimeouts timeouts_;
  std::optional<OpenCodeLaunch> launch_;
  std::string start_error_ = "OpenCode was started without its server";
  Listener* listener_ = nullptr;
  std::unique_ptr<net::HttpClient> client_;
  std::unique_ptr<OpenCodeEvents> events_;
  std::unique_ptr<OpenCodeSender> sender_;

  Phase phase_ = Phase::Offline;
  bool usable_ = false;  // it was online, and is not given up
  bool given_up_ = false;
  bool drawn_ = false;                       // the screen is
  std::string title_;                        // of the window
  std::string shown_session_;                // that was on the screen last
  bool other_session_shown_ = false;         // the screen shows another session, and its id is unknown
  std::unique_ptr<net::Timer> title_timer_;  // until the title counts; nothing is sent meanwhile
  std::string connect_error_;
  WallMs fallback_since_ = 0;  // since when the screen is read instead; kNever: it is not
  Millis retry_{};
  net::EventStream event_parser_;
  std::vector<json::object> held_;
  std::map<std::string, std::unique_ptr<net::HttpExchange>> answers_;  // by prompt
  /// An answer that the server has accepted, before its event.
  struct AcceptedAnswer {
    OnAnswered done;
    std::unique_ptr<net::Timer> timer;
  };
  std::map<std::string, AcceptedAnswer> accepted_;  // by prompt
  std::unique_ptr<net::Timer> timer_;               // to the next attempt
  std::unique_ptr<net::Timer> timeout_;             // until the server is given up
  std::unique_ptr<net::Timer> drawing_;             // until an unknown screen counts as drawn
  std::unique_ptr<net::HttpExchange> stream_;
  std::unique_ptr<net::HttpExchange> request_;
};

void OpenCode::get(std::string target, OnJson done) {
  request_ = client_->send(
      {.target = std::move(target)}, kRequestLimits,
      [this, done = std::move(done)](Result<HttpResponse> answer) mutable {
        if (!answer) return disconnect(answer.error().message());
        if (answer->status != 200)
          return disconnect(format("OpenCode's server does not report its state: {}", error_text(*answer)));
        const auto value = read_json(answer->body);
        if (!value) return disconnect(format("OpenCode's server sent invalid JSON: {}", value.error().message()));
        done(*value);
      });
}

void OpenCode::request_sessions() {
  get("/session?limit=100", [this](const json::value& sessions) {
    if (const auto* list = sessions.if_array()) events_->on_sessions(*list, launch_->continues);
    request_state();
  });
}

void OpenCode::request_state() {
  get("/session/status", [this](const json::value& statuses) {
    if (const auto* each = statuses.if_object()) events_->on_statuses(*each);
    get("/permission", [this](const json::value& permissions) {
      get("/question", [this, permissions](const json::value& questions) {
        const json::array none;
        const auto *first = permissions.if_array(), *second = questions.if_array();
        events_->on_prompts(first != nullptr ? *first : none, second != nullptr ? *second : none);
        request_messages();
      });
    });
  });
}

void OpenCode::request_messages() {
  if (events_->session().empty()) return go_online();
  get(format("/session/{}/message?limit=100", events_->session()), [this](const json::value& messages) {
    if (const auto* list = messages.if_array()) events_->on_messages(events_->session(), *list, fallback_since_);
    go_online();
  });
}

void OpenCode::go_online() {
  phase_ = Phase::Online;
  timeout_.reset();
  retry_ = timeouts_.first_retry;
  fallback_since_ = kNever;
  for (const auto& event : std::exchange(held_, {})) events_->on_event(event);
  if (!drawn_)
    drawing_ = loop_.after(timeouts_.drawing, [this] {
      drawn_ = true;
      listener_->on_state_reported();
    });
  const bool recovered = std::exchange(given_up_, false);
  if (!std::exchange(usable_, true)) listener_->on_capabilities();
  if (recovered) listener_->on_interface_recovered(via::kServer);
  listener_->on_state_reported();
  check_title();
  if (!title_timer_ && !other_session_shown_) sender_->on_online();
}

/// Window and server report titles separately, so they may differ for a moment.
void OpenCode::check_title() {
  if (phase_ != Phase::Online) return;
  if (events_->shows_other_session(title_)) {
    if (other_session_shown_ || title_timer_) return;
    sender_->on_offline();
    title_timer_ = loop_.after(timeouts_.title, [this] { on_other_session_shown(); });
    return;
  }
  if (!other_session_shown_ && !title_timer_) return;
  title_timer_.reset();
  if (std::exchange(other_session_shown_, false)) {
    listener_->on_capabilities();
    listener_->on_state_reported();
  }
  sender_->on_online();
}

void OpenCode::on_other_session_shown() {
  title_timer_.reset();
  other_session_shown_ = true;
  listener_->on_capabilities();
  sender_->give_up("OpenCode shows another conversation");
  listener_->on_state_reported();
}

void OpenCode::disconnect(std::string reason) {
  stream_.reset();
  request_.reset();
  held_.clear();
  title_timer_.reset();
  connect_error_ = std::move(reason);
  sender_->on_offline();
  timer_ = loop_.after(given_up_ ? timeouts_.slow_retry : retry_, [this] { connect(); });
  retry_ = std::min(retry_ * 2, timeouts_.last_retry);
  if (std::exchange(phase_, Phase::Offline) != Phase::Online) return;
  timeout_ = loop_.after(timeouts_.gap_timeout, [this] { give_up(); });
  listener_->on_state_reported();
}

void OpenCode::give_up() {
  given_up_ = true;
  other_session_shown_ = false;
  title_timer_.reset();
  fallback_since_ = usable_ ? loop_.now().wall : 0;
  usable_ = false;
  if (events_) events_->fall_back_to_screen();
  listener_->on_capabilities();
  sender_->give_up(connect_error_);
  listener_->on_interface_failed(via::kServer, connect_error_);
}

/// A request that answers a prompt.
struct ServerReply {
  std::string target;
  json::object body = {};
};

Result<ServerReply> make_reply(const OpenCodeEvents::OpenPrompt& open, const PromptAnswer& answer) {
  const bool approve = answer.decision == PromptAnswer::Decision::Approve;
  if (open.prompt.kind == PromptKind::Permission) {
    ServerReply reply{format("/permission/{}/reply", open.request), {{"reply", approve ? "once" : "reject"}}};
    if (!approve && !answer.message.empty()) reply.body["message"] = answer.message;
    return reply;
  }
  if (!approve) {
    if (!answer.message.empty())
      return fail("OpenCode's question can be dismissed, but not with a message; answer it instead");
    return ServerReply{format("/question/{}/reject", open.request)};
  }
  const auto& questions = open.prompt.questions;
  if (answer.answers.size() != questions.size())
    return fail(format("{} questions and {} answers; answer each, in order", questions.size(), answer.answers.size()));
  json::array answers;
  for (std::size_t i = 0; i < questions.size(); ++i)
    answers.push_back(selected_choices(questions[i], answer.answers[i]));
  return ServerReply{format("/question/{}/reply", open.request), {{"answers", std::move(answers)}}};
}

/// Completes accepted answers whose prompt has closed.
void OpenCode::report_resolved() {
  std::vector<OnAnswered> closed;
  for (auto each = accepted_.begin(); each != accepted_.end();) {
    if (events_->find_prompt(each->first) != nullptr) {
      ++each;
      continue;
    }
    closed.push_back(std::move(each->second.done));
    each = accepted_.erase(each);
  }
  for (auto& done : closed) done({});
}

void OpenCode::answer(const std::string& prompt, const PromptAnswer& answer, OnAnswered done) {
  const auto* open = events_ ? events_->find_prompt(prompt) : nullptr;
  if (open == nullptr || open->answered) return done(fail("that prompt is already answered or closed"));
  const auto reply = make_reply(*open, answer);
  if (!reply) return done(Failure{reply.error()});
  events_->set_answered(prompt, true);
  auto on_response = [this, prompt, done = std::move(done)](const Result<HttpResponse>& response) mutable {
    const auto finished = answers_.extract(prompt);  // kept until this call returns
    if (response && response->status == 200) {       // the server's event closes it
      auto late = [this, prompt] {
        auto accepted = accepted_.extract(prompt);
        if (accepted) accepted.mapped().done({});
      };
      accepted_[prompt] = {std::move(done), loop_.after(timeouts_.resolved, std::move(late))};
      return report_resolved();
    }
    if (response && response->status == 404) {
      events_->close_prompt(prompt);
      return done(fail(protocol::NackCode::Stale, "OpenCode has already closed that prompt"));
    }
    events_->set_answered(prompt, false);
    const auto reason = format("the answer to {} did not reach OpenCode: {}", prompt,
                               response ? error_text(*response) : response.error().message());
    listener_->on_failure(reason, via::kServer);
    done(fail(protocol::NackCode::Busy, reason));
  };
  answers_[prompt] = client_->send({.method = "POST", .target = reply->target, .json = json::serialize(reply->body)},
                                   kAnswerLimits, std::move(on_response));
}

}  // namespace

std::unique_ptr<Adapter> make_opencode(net::AsioLoop& loop, const OpenCodeTimeouts& timeouts) {
  return std::make_unique<OpenCode>(loop, timeouts);
}

}  // namespace relay::adapters
