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
constexpr net::HttpLimits kAnswerLimits{.connect = Millis{2'000}, .response = Millis{4'000}};  // a person waits for it
constexpr net::HttpLimits kAskLimits{.body_bytes = 64U << 20U};  // a hundred messages with all their tools' output
constexpr WallMs kNever = std::numeric_limits<WallMs>::max();

json::array chosen(const Question& question, const std::string& answer) {
  const auto is_choice = [&](const std::string& text) {
    return std::ranges::find(question.choices, text) != question.choices.end();
  };
  if (!question.several || is_choice(answer)) return {answer};
  std::vector<std::string> several;
  for (std::size_t at = 0; at <= answer.size();) {
    const auto comma = std::min(answer.find(", ", at), answer.size());
    several.push_back(answer.substr(at, comma - at));
    at = comma + 2;
  }
  if (!std::ranges::all_of(several, is_choice)) return {answer};
  return json::array(several.begin(), several.end());
}

/// Output of tools may hold letters that were cut in two.
Result<json::value> read(std::string_view text) {
  if (auto value = parse_json(text)) return value;
  return parse_json(hooks::repair_json(text));
}

class OpenCode final : public Adapter, net::HttpStreamListener {
 public:
  OpenCode(net::AsioLoop& loop, const OpenCodeTimeouts& pace) : loop_{loop}, pace_{pace} {}

  void prepare(pty::Command& command, const LaunchContext&) override {
    SystemRandom random;
    auto launch = open_server(command, random);
    if (launch)
      launch_ = *std::move(launch);
    else
      why_not_ = launch.error().message();
  }

  void start(Listener& listener, pid_t) override {
    listener_ = &listener;
    if (!launch_) {
      timer_ = loop_.after(Millis{0}, [this] { listener_->on_interface_failed(way::kServer, why_not_); });
      return;
    }
    client_ = std::make_unique<net::HttpClient>(loop_, launch_->place);
    talk_ = std::make_unique<OpenCodeEvents>(listener, loop_.now().wall);
    talk_->set_session(launch_->session);
    messenger_ = std::make_unique<OpenCodeSender>(loop_, *client_, *talk_, *launch_, pace_.recheck);
    why_away_ = format("OpenCode's server at port {} has not answered yet", launch_->place.port);
    timeout_ = loop_.after(pace_.start_timeout, [this] { give_up(); });
    retry_ = pace_.first_retry;
    timer_ = loop_.after(retry_, [this] { connect(); });
  }

  /// A server that is still starting is waited for: what is said to it meanwhile is not typed instead.
  [[nodiscard]] NativeCapabilities capabilities() const override {
    NativeCapabilities can;
    if (!messenger_ || given_up_) return can;
    if (usable_) can.output = can.prompts = can.usage = way::kServer;
    if (elsewhere_) return can;
    if (usable_) can.state = way::kServer;
    can.by(DeliveryMode::Immediate) = {DeliveryTiming::AnyTime, way::kServer};  // the turn is aborted first
    can.by(DeliveryMode::OnIdle) = {DeliveryTiming::Idle, way::kServer};
    can.by(DeliveryMode::NextMessage) = {DeliveryTiming::Idle,
                                         way::kServer};  // in a turn it would be answered in that turn
    can.by(DeliveryMode::NextToolCall) = {DeliveryTiming::Working,
                                          way::kServer};  // the model sees it with the tool's result
    return can;
  }

  [[nodiscard]] std::optional<ReportedState> reported_state() const override {
    if (phase_ != Phase::Online || !drawn_) return std::nullopt;
    auto known = talk_->known();
    if (elsewhere_ && known.state != profiles::State::Blocked) return std::nullopt;  // it is another session's
    return known;
  }

  /// The server is there before the screen, and a session shown too early is not shown.
  void on_state(profiles::State state) override { drawn_ = drawn_ || state != profiles::State::Unknown; }

  /// A session is left only once it was seen to be shown: one that was just made is not drawn yet.
  void on_shown(std::string_view title, bool start_page) override {
    if (!talk_) return;
    title_ = title;
    if (!start_page)
      shown_ = talk_->session();
    else if (!talk_->session().empty() && shown_ == talk_->session())
      talk_->leave_session();
    look_at_title();
  }

  void on_agent_exit() override {
    if (talk_) talk_->on_ended(loop_.now().wall);
  }

  void deliver(const NativeDelivery& words, OnAccepted done) override {
    if (messenger_ && !given_up_) return messenger_->speak(words, std::move(done));
    loop_.post([done = std::move(done)]() mutable { done(fail("OpenCode's server cannot be reached")); });
  }

  void answer(const std::string& prompt, const PromptAnswer& reply, OnAnswered done) override;

 private:
  enum class Phase : std::uint8_t { Away, Syncing, Online };
  using OnJson = std::move_only_function<void(const json::value&)>;

  void on_header(int status, std::string_view) override {
    if (status == 200) return;
    const auto why = status == 401 ? std::string{"it refuses our password; another program may listen there"}
                                   : format("its events answer with {}", status);
    lose(format("OpenCode's server at port {}: {}", launch_->place.port, why));
  }

  void on_chunk(std::string_view bytes) override {
    for (const auto& event : events_.feed(bytes)) {
      if (!stream_) return;
      if (auto told = read(event.data); told && told->is_object()) on_event(std::move(told->get_object()));
    }
  }

  void on_end(Result<void> how) override {
    lose(how ? std::string{"OpenCode's server ended its events"} : how.error().message());
  }

  void connect() {
    events_ = net::EventStream{};
    stream_ =
        client_->stream({.target = "/event"}, {.response = pace_.response, .idle_timeout = pace_.idle_timeout}, *this);
  }

  /// What comes while we ask for what is missing waits: it is newer.
  void on_event(json::object event) {
    if (phase_ == Phase::Online) {
      talk_->on_event(event);
      look_at_title();
      return report_resolved();
    }
    if (phase_ == Phase::Syncing) {
      if (held_.size() >= kMaxHeldEvents) return lose("OpenCode's server says more than can be kept while it is asked");
      return held_.push_back(std::move(event));
    }
    phase_ = Phase::Syncing;  // the first event: from here on nothing is missed
    ask_for_sessions();
  }

  void get(std::string target, OnJson done);
  void ask_for_sessions();
  void ask_for_state();
  void ask_for_messages();
  void come_online();
  void report_resolved();
  void look_at_title();
  void leave_screen();
  void lose(std::string why);
  void give_up();

  net::AsioLoop& loop_;
  OpenCodeTimeouts pace_;
  std::optional<OpenCodeLaunch> launch_;
  std::string why_not_ = "OpenCode was started without its server";
  Listener* listener_ = nullptr;
  std::unique_ptr<net::HttpClient> client_;
  std::unique_ptr<OpenCodeEvents> talk_;
  std::unique_ptr<OpenCodeSender> messenger_;

  Phase phase_ = Phase::Away;
  bool usable_ = false;  // it has been online, and was not given up
  bool given_up_ = false;
  bool drawn_ = false;                       // something is on the screen
  std::string title_;                        // of the window
  std::string shown_;                        // the session that was on the screen last
  bool elsewhere_ = false;                   // the screen shows another session, and it is not known which
  std::unique_ptr<net::Timer> title_timer_;  // until that is believed; nothing is handed over meanwhile
  std::string why_away_;
  WallMs elsewhere_since_ = 0;  // since when the screen is heard instead; kNever: it is not
  Millis retry_{};
  net::EventStream events_;
  std::vector<json::object> held_;
  std::map<std::string, std::unique_ptr<net::HttpExchange>> answers_;  // by prompt
  /// An answer that the server took, and has not said so by an event.
  struct Taken {
    OnAnswered done;
    std::unique_ptr<net::Timer> timer;
  };
  std::map<std::string, Taken> taken_;   // by prompt
  std::unique_ptr<net::Timer> timer_;    // to the next attempt
  std::unique_ptr<net::Timer> timeout_;  // until it is given up
  std::unique_ptr<net::Timer> drawing_;  // until a screen we do not understand counts as drawn
  std::unique_ptr<net::HttpExchange> stream_;
  std::unique_ptr<net::HttpExchange> asking_;
};

void OpenCode::get(std::string target, OnJson done) {
  asking_ = client_->send(
      {.target = std::move(target)}, kAskLimits, [this, done = std::move(done)](Result<HttpResponse> answer) mutable {
        if (!answer) return lose(answer.error().message());
        if (answer->status != 200)
          return lose(format("OpenCode's server does not tell its state: {}", refusal(*answer)));
        const auto value = read(answer->body);
        if (!value) return lose(format("OpenCode's server tells its state in no JSON: {}", value.error().message()));
        done(*value);
      });
}

void OpenCode::ask_for_sessions() {
  get("/session?limit=100", [this](const json::value& sessions) {
    if (const auto* list = sessions.if_array()) talk_->on_sessions(*list, launch_->continues);
    ask_for_state();
  });
}

void OpenCode::ask_for_state() {
  get("/session/status", [this](const json::value& statuses) {
    if (const auto* each = statuses.if_object()) talk_->on_statuses(*each);
    get("/permission", [this](const json::value& permissions) {
      get("/question", [this, permissions](const json::value& questions) {
        const json::array none;
        const auto *first = permissions.if_array(), *second = questions.if_array();
        talk_->on_prompts(first != nullptr ? *first : none, second != nullptr ? *second : none);
        ask_for_messages();
      });
    });
  });
}

void OpenCode::ask_for_messages() {
  if (talk_->session().empty()) return come_online();
  get(format("/session/{}/message?limit=100", talk_->session()), [this](const json::value& messages) {
    if (const auto* list = messages.if_array()) talk_->on_messages(talk_->session(), *list, elsewhere_since_);
    come_online();
  });
}

void OpenCode::come_online() {
  phase_ = Phase::Online;
  timeout_.reset();
  retry_ = pace_.first_retry;
  elsewhere_since_ = kNever;
  for (const auto& event : std::exchange(held_, {})) talk_->on_event(event);
  if (!drawn_)
    drawing_ = loop_.after(pace_.drawing, [this] {
      drawn_ = true;
      listener_->on_state_reported();
    });
  const bool mended = std::exchange(given_up_, false);
  if (!std::exchange(usable_, true)) listener_->on_capabilities();
  if (mended) listener_->on_interface_recovered(way::kServer);
  listener_->on_state_reported();
  look_at_title();
  if (!title_timer_ && !elsewhere_) messenger_->on_online();
}

/// Titles come by two ways, so for a moment they may differ.
void OpenCode::look_at_title() {
  if (phase_ != Phase::Online) return;
  if (talk_->is_elsewhere(title_)) {
    if (elsewhere_ || title_timer_) return;
    messenger_->on_offline();
    title_timer_ = loop_.after(pace_.title, [this] { leave_screen(); });
    return;
  }
  if (!elsewhere_ && !title_timer_) return;
  title_timer_.reset();
  if (std::exchange(elsewhere_, false)) {
    listener_->on_capabilities();
    listener_->on_state_reported();
  }
  messenger_->on_online();
}

void OpenCode::leave_screen() {
  title_timer_.reset();
  elsewhere_ = true;
  listener_->on_capabilities();
  messenger_->give_up("OpenCode shows another conversation");
  listener_->on_state_reported();
}

void OpenCode::lose(std::string why) {
  stream_.reset();
  asking_.reset();
  held_.clear();
  title_timer_.reset();
  why_away_ = std::move(why);
  messenger_->on_offline();
  timer_ = loop_.after(given_up_ ? pace_.slow_retry : retry_, [this] { connect(); });
  retry_ = std::min(retry_ * 2, pace_.last_retry);
  if (std::exchange(phase_, Phase::Away) != Phase::Online) return;
  timeout_ = loop_.after(pace_.gap_timeout, [this] { give_up(); });
  listener_->on_state_reported();
}

void OpenCode::give_up() {
  given_up_ = true;
  elsewhere_ = false;
  title_timer_.reset();
  elsewhere_since_ = usable_ ? loop_.now().wall : 0;
  usable_ = false;
  if (talk_) talk_->fall_back_to_screen();
  listener_->on_capabilities();
  messenger_->give_up(why_away_);
  listener_->on_interface_failed(way::kServer, why_away_);
}

/// What is said to its server.
struct ServerReply {
  std::string target;
  json::object body = {};
};

Result<ServerReply> reply_for(const OpenCodeEvents::OpenPrompt& open, const PromptAnswer& reply) {
  const bool allow = reply.verdict == PromptAnswer::Decision::Allow;
  if (open.prompt.kind == PromptKind::Permission) {
    ServerReply said{format("/permission/{}/reply", open.request), {{"reply", allow ? "once" : "reject"}}};
    if (!allow && !reply.message.empty()) said.body["message"] = reply.message;
    return said;
  }
  if (!allow) {
    if (!reply.message.empty())
      return fail("OpenCode's question can be dismissed, but not with a message; answer it instead");
    return ServerReply{format("/question/{}/reject", open.request)};
  }
  const auto& questions = open.prompt.questions;
  if (reply.answers.size() != questions.size())
    return fail(format("it asks {} questions, and got {} answers", questions.size(), reply.answers.size()));
  json::array answers;
  for (std::size_t i = 0; i < questions.size(); ++i) answers.push_back(chosen(questions[i], reply.answers[i]));
  return ServerReply{format("/question/{}/reply", open.request), {{"answers", std::move(answers)}}};
}

/// Whoever answers is told when the prompt is gone for everybody.
void OpenCode::report_resolved() {
  std::vector<OnAnswered> gone;
  for (auto each = taken_.begin(); each != taken_.end();) {
    if (talk_->asked(each->first) != nullptr) {
      ++each;
      continue;
    }
    gone.push_back(std::move(each->second.done));
    each = taken_.erase(each);
  }
  for (auto& done : gone) done({});
}

void OpenCode::answer(const std::string& prompt, const PromptAnswer& reply, OnAnswered done) {
  const auto* open = talk_ ? talk_->asked(prompt) : nullptr;
  if (open == nullptr || open->answered) return done(fail("that prompt is answered already, or gone"));
  const auto said = reply_for(*open, reply);
  if (!said) return done(Failure{said.error()});
  talk_->set_answered(prompt, true);
  auto heard = [this, prompt, done = std::move(done)](const Result<HttpResponse>& answer) mutable {
    const auto over = answers_.extract(prompt);
    if (answer && answer->status == 200) {  // the server's event closes it
      auto late = [this, prompt] {
        auto taken = taken_.extract(prompt);
        if (taken) taken.mapped().done({});
      };
      taken_[prompt] = {std::move(done), loop_.after(pace_.resolved, std::move(late))};
      return report_resolved();
    }
    if (answer && answer->status == 404) {
      talk_->gone(prompt);
      return done(fail(protocol::NackCode::Stale, "OpenCode does not ask that any more"));
    }
    talk_->set_answered(prompt, false);
    const auto why = format("the answer to {} did not reach OpenCode: {}", prompt,
                            answer ? refusal(*answer) : answer.error().message());
    listener_->on_failure(why, way::kServer);
    done(fail(protocol::NackCode::Busy, why));
  };
  answers_[prompt] = client_->send({.method = "POST", .target = said->target, .json = json::serialize(said->body)},
                                   kAnswerLimits, std::move(heard));
}

}  // namespace

std::unique_ptr<Adapter> opencode(net::AsioLoop& loop, const OpenCodeTimeouts& pace) {
  return std::make_unique<OpenCode>(loop, pace);
}

}  // namespace relay::adapters
