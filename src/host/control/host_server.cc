#include "host/control/host_server.h"

#include <algorithm>

#include "base/format.h"
#include "host/screen/screen_text.h"
#include "protocol/frame.h"
#include "terminal/render.h"

namespace relay::host {
namespace {

constexpr std::size_t kMaxPieceBytes = 64 * 1024;

/// Keys and answers decide what an agent does, and whether it runs on.
bool needs_user(const RequestParams& wish) {
  if (const auto* attach = std::get_if<Attach>(&wish)) return attach->drive;
  return std::holds_alternative<Input>(wish) || std::holds_alternative<Interrupt>(wish) ||
         std::holds_alternative<AnswerPrompt>(wish) || std::holds_alternative<ReleaseAgent>(wish);
}

/// Whoever calls hooks or takes messages speaks for the agent: what it takes counts as seen by the model.
bool needs_own_agent(const RequestParams& wish) {
  if (const auto* fetch = std::get_if<FetchMessages>(&wish)) return fetch->take;
  return std::holds_alternative<HookCall>(wish);
}

std::string from_where(const protocol::PeerOrigin& origin) {
  if (!origin.is_agent()) return "the process that asks could not be identified; run it in a shell on this machine";
  return format("this request comes from a process inside {}; ask the user to do it in a shell of their own",
                origin.agent.empty() ? "an agent" : format("the agent {}", origin.agent));
}

/// Why the peer may not do that; empty when it may.
std::string refusal_of(const RequestParams& wish, const protocol::PeerOrigin& origin, const std::string& agent) {
  if (origin.is_user()) return {};
  if (needs_user(wish))
    return format("only the user may type here, answer or end {}, and {}", agent, from_where(origin));
  if (needs_own_agent(wish) && (!origin.is_agent() || origin.agent != agent))
    return format("only {} itself and the user may take its messages and call its hooks, and {}", agent,
                  from_where(origin));
  return {};
}

}  // namespace

/// One connection at the door.
class HostServer::Client final : public net::StreamListener {
 public:
  Client(std::uint64_t id, std::unique_ptr<net::Stream> stream, protocol::PeerOrigin origin, HostServer& door)
      : id_{id}, stream_{std::move(stream)}, origin_{std::move(origin)}, door_{door} {
    stream_->start(*this);
  }

  [[nodiscard]] bool attached() const { return attached_ && !gone_; }
  [[nodiscard]] bool watches() const { return (watches_ || attached_) && !gone_; }
  [[nodiscard]] pty::WindowSize size() const { return size_; }

  void tell(const std::string& json) {
    if (gone_) return;
    if (stream_->bytes_waiting() > 2 * kMaxClientBacklogBytes) return leave();  // does not even read what it asked for
    send(json);
  }

  void show_output(std::string_view bytes) {
    if (behind_) return catch_up();
    if (stream_->bytes_waiting() + bytes.size() > kMaxClientBacklogBytes) {
      behind_ = true;
      return;
    }
    send_terminal(bytes);
  }
  /// From here on the whole screen, as soon as it can be taken.
  void show_screen() {
    behind_ = true;
    catch_up();
  }
  /// The agent reads again what is typed.
  void go_on_typing() {
    if (std::exchange(held_, false) && !gone_) stream_->resume_reading();
  }

 private:
  void on_bytes(std::string_view bytes) override {
    reader_.push(bytes);
    while (!gone_) {
      const auto frame = reader_.next();
      if (!frame) {
        send(refusal({}, {}, frame.error().message()));
        return leave();
      }
      if (!*frame) return;
      take(**frame);
    }
  }
  void on_written(std::size_t) override { catch_up(); }
  void on_closed(const std::string&) override { leave(); }

  void catch_up() {
    const auto& screen = door_.keeper_.screen();
    if (!behind_ || stream_->bytes_waiting() > 0 || !screen.in_ground_state()) return;
    behind_ = false;
    send_terminal(terminal::render(screen));
  }

  void take(std::string_view frame) {
    if (const auto typed = terminal_bytes(frame)) return type(*typed);
    if (stream_->bytes_waiting() > kMaxClientBacklogBytes) return leave();  // asks and does not read
    auto request = parse_request(frame);
    if (!request) return send(refusal({}, {}, request.error().message()));
    if (const auto why = refusal_of(request->params, origin_, door_.keeper_.agent()); !why.empty())
      return send(refusal(request->method, request->id, why, name_of(protocol::NackCode::Refused)));
    answering_ = &*request;
    std::visit([this](const auto& wish) { execute(wish); }, request->params);
    answering_ = nullptr;
  }

  void type(std::string_view bytes) {
    if (!drives_) return;
    claim_size();
    door_.keeper_.client_input(bytes);
    if (!door_.crowded_ || std::exchange(held_, true)) return;
    stream_->pause_reading();  // what was read already is at most a frame or two
  }

  void execute(const Describe&) {
    auto answer = granted();
    door_.keeper_.describe(answer);
    send(answer.take());
  }
  void execute(const Explain&) {
    auto answer = granted();
    door_.keeper_.explain(answer);
    answer.field("attachedClients", door_.watchers());
    send(answer.take());
  }
  void execute(const Watch&) {
    watches_ = true;
    send(granted().take());
    text::JsonWriter event;
    event.field("event", "state");
    door_.keeper_.describe_state(event);
    send(event.take());
  }
  /// True, and the request refused, where the agent has no terminal.
  bool lacks_terminal() {
    const auto why = door_.keeper_.why_no_terminal();
    if (!why.empty()) send(refusal(answering_->method, answering_->id, why));
    return !why.empty();
  }
  void execute(const ShowScreen& wish) {
    if (lacks_terminal()) return;
    const auto& screen = door_.keeper_.screen();
    auto answer = granted();
    answer.field("columns", screen.size().columns)
        .field("rows", screen.size().rows)
        .field("row", screen.cursor().row)
        .field("column", screen.cursor().column)
        .field("screen", wish.ansi ? terminal::render(screen) : text_of(screen));
    send(answer.take());
  }
  void execute(const Attach& wish) {
    if (lacks_terminal()) return;
    if (!attached_ && door_.watchers() >= kMaxWatchers)
      return send(refusal(answering_->method, answering_->id, format("{} are attached already", kMaxWatchers)));
    attached_ = true;
    drives_ = wish.drive;
    size_ = wish.size;
    if (drives_) claim_size();
    const auto& screen = door_.keeper_.screen();
    auto answer = granted();
    answer.field("mode", drives_ ? "drive" : "view")
        .field("columns", screen.size().columns)
        .field("rows", screen.size().rows);
    send(answer.take());
    show_screen();
  }
  void execute(const Resize& wish) {
    size_ = wish.size;
    if (drives_ && !door_.drivers_.empty() && door_.drivers_.back() == id_) door_.settle_size();
  }
  void execute(const Input& wish) {
    if (lacks_terminal()) return;
    if (door_.crowded_)
      return send(
          refusal(answering_->method, answering_->id, "the agent does not read what is typed; try again later"));
    if (!wish.text.empty()) {
      return door_.keeper_.client_text(wish.text, [later = later()](const Result<void>& outcome) mutable {
        if (outcome) return later([](Client&, text::JsonWriter&) {});
        later.refuse(outcome.error());
      });
    }
    std::string bytes = wish.data;
    for (const auto& key : wish.keys) bytes += terminal::encode_key(key, door_.keeper_.screen().modes());
    door_.keeper_.client_input(bytes);
    send(granted().take());
  }
  void execute(const Interrupt&) {
    if (lacks_terminal()) return;
    door_.keeper_.client_interrupt();
    send(granted().take());
  }
  void execute(const HookCall& wish) {
    hook_ = true;
    door_.keeper_.hook_called(wish.event, id_, [later = later()](const hooks::HookResponse& answer) mutable {
      later([&](Client& visitor, text::JsonWriter& granted) {
        visitor.hook_ = false;
        granted.raw("answer", json::serialize(hooks::to_json(answer)));
      });
    });
  }
  void execute(const FetchMessages& wish) {
    auto answer = granted();
    door_.keeper_.fetch_messages(wish, answer);
    send(answer.take());
  }
  void execute(const ListPrompts&) {
    auto answer = granted();
    door_.keeper_.describe_prompts(answer);
    send(answer.take());
  }
  void execute(const AnswerPrompt& wish) {
    door_.keeper_.answer_prompt(wish, [later = later()](const Result<void>& outcome) mutable {
      if (outcome) return later([](Client&, text::JsonWriter&) {});
      later.refuse(outcome.error());
    });
  }
  void execute(const ShowDialog& wish) {
    door_.keeper_.show_dialog(wish.prompt);
    send(granted().take());
  }
  void execute(const ReleaseAgent& wish) {
    send(granted().take());
    door_.keeper_.client_release(wish);
  }

  /// An answer that comes when it can, if the visitor is still there.
  struct Later {
    HostServer& door;
    Lifetime::Watch alive;
    std::uint64_t visitor;
    std::string what, request;

    [[nodiscard]] Client* there() const {
      if (!alive) return nullptr;
      const auto found = door.visitors_.find(visitor);
      return found == door.visitors_.end() ? nullptr : found->second.get();
    }
    template <typename Fill>
    void operator()(Fill&& fill) {
      auto* const who = there();
      if (who == nullptr) return;
      auto answer = approval(what, request);
      fill(*who, answer);
      who->tell(answer.take());
    }
    void refuse(const Error& why) {
      const auto code = protocol::nack_code_of(why);
      if (auto* const who = there()) who->tell(refusal(what, request, why.message(), code ? name_of(*code) : ""));
    }
  };
  [[nodiscard]] Later later() const {
    return {.door = door_,
            .alive = door_.lifetime_.watch(),
            .visitor = id_,
            .what = answering_->method,
            .request = answering_->id};
  }

  void claim_size() {
    auto& drivers = door_.drivers_;
    if (!drivers.empty() && drivers.back() == id_) return;
    std::erase(drivers, id_);
    drivers.push_back(id_);
    door_.settle_size();
  }

  [[nodiscard]] text::JsonWriter granted() const { return approval(answering_->method, answering_->id); }
  static text::JsonWriter approval(std::string_view what, std::string_view id) {
    text::JsonWriter answer;
    answer.field("method", what).optional("id", id).field("ok", true);
    return answer;
  }
  static std::string refusal(std::string_view what, std::string_view id, std::string_view why,
                             std::string_view code = {}) {
    text::JsonWriter answer;
    answer.field("method", what).optional("id", id).field("ok", false).field("error", why).optional("code", code);
    return answer.take();
  }

  void send(std::string_view body) {
    if (body.size() > protocol::kMaxFrameBytes)
      return send(refusal(answering_ != nullptr ? answering_->method : "", "", "the answer is too large for a frame"));
    std::string framed;
    protocol::append_frame(framed, reader_.style(), body);
    stream_->write(framed);
  }
  void send_terminal(std::string_view bytes) {
    std::string body;
    while (!bytes.empty()) {
      const auto piece = bytes.substr(0, kMaxPieceBytes);
      body.assign(1, kTerminalFrameByte);
      body.append(piece);
      send(body);
      bytes.remove_prefix(piece.size());
    }
  }
  void leave() {
    if (gone_) return;
    gone_ = true;
    stream_->close(net::Drain::Yes);
    if (std::exchange(hook_, false)) door_.keeper_.hook_closed(id_);
    door_.leave(id_);
  }

  std::uint64_t id_;
  std::unique_ptr<net::Stream> stream_;
  protocol::PeerOrigin origin_;
  HostServer& door_;
  protocol::FrameReader reader_{kMaxRequestBytes};
  const Request* answering_ = nullptr;
  pty::WindowSize size_;
  bool attached_ = false;
  bool drives_ = false;
  bool watches_ = false;
  bool behind_ = false;  // what it was sent last is not continued by what comes next
  bool held_ = false;    // typed more than the agent reads
  bool hook_ = false;    // waits for an answer
  bool gone_ = false;
};

HostServer::HostServer(net::EventLoop& loop, net::Network& network, HostService& keeper)
    : loop_{loop}, network_{network}, keeper_{keeper} {}
HostServer::~HostServer() = default;

Result<void> HostServer::listen(const std::string& path) {
  listener_ =
      RELAY_TRY(network_.listen(path, [this](std::unique_ptr<net::Stream> stream) { accept(std::move(stream)); }));
  return {};
}

void HostServer::accept(std::unique_ptr<net::Stream> stream) {
  if (visitors_.size() >= kMaxClients) return stream->close(net::Drain::No);
  const auto id = ++last_visitor_;
  auto origin = origin_of_ ? origin_of_(stream->peer()) : protocol::user_origin();
  visitors_.emplace(id, std::make_unique<Client>(id, std::move(stream), std::move(origin), *this));
}

/// Whoever leaves may be in the middle of a call, or of a walk over all: he is buried in a turn of his own.
void HostServer::leave(std::uint64_t id) {
  leaving_.push_back(id);
  loop_.post([this, alive = lifetime_.watch()] {
    if (alive) bury();
  });
}

void HostServer::bury() {
  for (const auto id : std::exchange(leaving_, {})) {
    visitors_.erase(id);
    const bool led = !drivers_.empty() && drivers_.back() == id;
    std::erase(drivers_, id);
    if (led) settle_size();
  }
}

/// With nobody left to drive it stays as it is.
void HostServer::settle_size() {
  if (drivers_.empty()) return;
  if (const auto found = visitors_.find(drivers_.back()); found != visitors_.end())
    keeper_.client_resize(found->second->size());
}

template <typename Wants>
void HostServer::tell(Wants&& wants, const std::string& event) {
  for (auto& [id, visitor] : visitors_)
    if (wants(*visitor)) visitor->tell(event);
}

void HostServer::on_output(std::string_view bytes) {
  for (auto& [id, visitor] : visitors_)
    if (visitor->attached()) visitor->show_output(bytes);
}

void HostServer::on_resized() {
  const auto size = keeper_.screen().size();
  text::JsonWriter event;
  event.field("event", "resized").field("columns", size.columns).field("rows", size.rows);
  tell([](const Client& visitor) { return visitor.attached(); }, event.take());
  for (auto& [id, visitor] : visitors_)
    if (visitor->attached()) visitor->show_screen();
}

void HostServer::on_state() {
  text::JsonWriter event;
  event.field("event", "state");
  keeper_.describe_state(event);
  tell([](const Client& visitor) { return visitor.watches(); }, event.take());
}

void HostServer::on_said(std::string_view to, std::string_view kind) {
  text::JsonWriter event;
  event.field("event", "sent").field("to", to).field("kind", kind);
  tell([](const Client& visitor) { return visitor.watches(); }, event.take());
}

void HostServer::on_event(const std::string& event) {
  tell([](const Client& visitor) { return visitor.watches(); }, event);
}

void HostServer::on_backpressure(bool crowded) {
  crowded_ = crowded;
  if (!crowded)
    for (auto& [id, visitor] : visitors_) visitor->go_on_typing();
}

void HostServer::on_exit(int code) {
  text::JsonWriter event;
  event.field("event", "exit").field("code", code);
  tell([](const Client& visitor) { return visitor.watches(); }, event.take());
  listener_.reset();
}

std::size_t HostServer::watchers() const {
  return static_cast<std::size_t>(
      std::ranges::count_if(visitors_, [](const auto& entry) { return entry.second->attached(); }));
}

}  // namespace relay::host
