#include "host/host.h"

#include <signal.h>

#include "base/format.h"
#include "base/random.h"
#include "client/link.h"
#include "host/intent.h"
#include "host/mail.h"
#include "net/signals.h"
#include "net/unix_network.h"
#include "profiles/watcher.h"
#include "protocol/json_writer.h"
#include "pty/child.h"
#include "pty/person_terminal.h"
#include "terminal/answer.h"
#include "terminal/input_splitter.h"
#include "terminal/keys.h"
#include "terminal/render.h"

namespace relay::host {
namespace {

using protocol::ReceiptStatus;

constexpr std::size_t kMaxLetters = 1'000;  // beyond that the daemon keeps them
constexpr Millis kEndGrace{5'000};
constexpr Millis kNoteRetry{1'000};
constexpr pty::WindowSize kUnseenSize{.columns = 120, .rows = 40};

terminal::Size cells_of(pty::WindowSize size) { return {size.columns, size.rows}; }

}  // namespace

class Host::Core final : public pty::ProgramListener, public pty::PersonTerminalListener, public client::LinkListener {
 public:
  Core(net::AsioLoop& loop, HostOptions options, client::Outbox& outbox)
      : loop_{loop},
        options_{std::move(options)},
        outbox_{outbox},
        intent_{*options_.directory, options_.intent_file},
        screen_{cells_of(kUnseenSize)} {}

  Result<int> run() {
    eyes_ = std::make_unique<profiles::Eyes>(RELAY_TRY(profiles::Eyes::open(options_.profile)));
    watcher_ = std::make_unique<profiles::Watcher>(*eyes_);
    RELAY_TRY(intent_.load());
    pty::WindowSize size = kUnseenSize;
    if (pty::PersonTerminal::is_one()) {
      person_ = RELAY_TRY(pty::PersonTerminal::open(loop_, *this));
      size = person_->size();
    }
    screen_.resize(cells_of(size));
    child_ = RELAY_TRY(pty::Child::spawn(loop_, options_.command, size, *this));
    if (person_) RELAY_TRY(person_->enter_raw());
    net::Signals signals{loop_, {SIGTERM, SIGINT, SIGHUP}, [this](int) { child_->end(kEndGrace); }};
    connect();
    loop_.run();
    link_.reset();
    person_.reset();
    return code_;
  }
  [[nodiscard]] const std::string& trouble() const { return trouble_; }

 private:
  // ---- the agent
  void on_output(std::string_view bytes) override {
    if (person_) {
      person_->write(bytes);
      if (person_->wants_pause()) child_->pause_output();
    }
    screen_.feed(bytes);
    for (const auto& report : screen_.take_reports())
      if (const auto* seen = std::get_if<terminal::QuerySeen>(&report)) reply_to(seen->query);
    if (person_ && screen_.modes() != seen_modes_) {
      seen_modes_ = screen_.modes();
      (void)person_->set_restore_bytes(terminal::restoring(screen_));
    }
    look();
  }

  /// The person's terminal answers for itself; only the program status is ours to answer, because only we listen.
  void reply_to(const terminal::Query& query) {
    if (person_ && query.kind != terminal::QueryKind::ProgramStatus) return;
    child_->write(terminal::answer(query, screen_.size()));
  }

  void on_input_written(std::size_t) override { type_waiting(); }

  void on_exit(const pty::ExitStatus& status) override {
    code_ = status.shell_code();
    ended_ = true;
    for (const auto& observation : watcher_->finish()) take(observation);  // its last words
    if (person_) person_->leave_raw();
    link_->stop();
    loop_.post([this] { loop_.stop(); });
  }

  // ---- the person
  void on_typed(std::string_view bytes) override {
    // Everything is passed on as it came; what it means is only looked at.
    type(bytes);
    for (const auto& piece : splitter_.feed(bytes, now()))
      if (terminal::is_typing(piece.kind)) last_typed_ = now();
    if (splitter_.deadline()) last_typed_ = now();  // an Escape that may be alone: in doubt it was the person
    look();
  }
  void on_written(std::size_t bytes_left) override {
    if (bytes_left == 0) child_->resume_output();
  }
  void on_resized(pty::WindowSize size) override {
    screen_.resize(cells_of(size));
    (void)child_->resize(size);
    look();
  }
  void on_continued() override {
    person_->write(terminal::render(screen_));
    (void)child_->resize(person_->size());
  }
  void on_closed(const std::string&) override { child_->end(kEndGrace); }

  void type(std::string_view bytes) {
    unwritten_.append(bytes);
    type_waiting();
  }
  void type_waiting() {
    if (unwritten_.empty()) return;
    unwritten_.erase(0, child_->write(unwritten_));
    if (!person_) return;
    // A child that does not read costs the person's keys a wait, never memory.
    unwritten_.empty() ? person_->resume_typing() : person_->pause_typing();
  }

  // ---- looking
  [[nodiscard]] SteadyTime now() const { return loop_.now().steady; }

  void look() {
    const auto observations = watcher_->look(screen_, now());
    for (const auto& observation : observations) {  // first what is: nothing below may decide on what was
      if (const auto* changed = std::get_if<profiles::StateChanged>(&observation)) {
        state_ = changed->verdict.state;
        state_since_ = now();
        tell_state();
      }
    }
    for (const auto& observation : observations) take(observation);
    deliver();
  }

  void take(const profiles::Observation& observation) {
    if (const auto* said = std::get_if<profiles::Said>(&observation))
      std::visit([this](const auto& what) { carry_out(what); }, said->utterance);
  }

  void look_again(std::optional<SteadyTime> at) {
    if (const auto due = watcher_->look_again_at()) at = at ? std::min(*at, *due) : *due;
    timer_ = at ? loop_.at(*at, [this] { look(); }) : nullptr;
  }

  // ---- what it says
  void carry_out(const speech::Command& command) {
    protocol::JsonWriter payload;
    payload.field("kind", name_of(command.kind)).field("body", command.body);
    if (command.thread) payload.field("thread", *command.thread);
    if (command.data) payload.raw("data", json::serialize(*command.data));
    if (const auto sent = link_->send({.to = command.to, .payload = payload.take()}); !sent)
      explain(sent.error().message());
  }
  void carry_out(const speech::Mistake& mistake) {
    explain(format("{} Write: {}", mistake.reason, mistake.right_form));
  }
  void carry_out(const speech::Spawn&) { explain("spawning agents is not possible yet."); }
  void carry_out(const speech::Release&) { explain("releasing agents is not possible yet."); }
  void carry_out(const speech::Summary&) {}     // kept with the session's history later
  void carry_out(const speech::SessionEnd&) {}  // likewise
  void carry_out(const speech::FileTrigger&) { explain("messages from files are not possible yet."); }

  /// A word of ours to the agent, through the same gate as any message.
  void explain(const std::string& sentence) {
    if (letters_.size() >= kMaxLetters) return;
    letters_.push_back({.place = {}, .text = format("Relay: {}", sentence), .injection = fresh_injection()});
    loop_.post([this] { deliver(); });
  }

  // ---- what it hears
  Injection fresh_injection() const { return Injection{options_.profile.typing}; }

  client::Taken on_incoming(const client::Incoming& incoming) override {
    if (intent_.holds(incoming.place.id)) {  // a predecessor's: our own are never handed up twice
      tell_end(incoming.place, {.status = ReceiptStatus::InDoubt, .reason = "the host ended while it was being typed"});
      return client::Taken::Later;
    }
    letters_.push_back({.place = incoming.place, .text = text_of(incoming), .injection = fresh_injection()});
    link_->report(incoming.place, {.status = ReceiptStatus::Accepted});
    loop_.post([this] { deliver(); });
    return client::Taken::Later;
  }

  /// What the composer holds is ours, whole or folded away by the program.
  [[nodiscard]] bool holds(const Letter& letter) const {
    constexpr std::size_t kEnough = 12;
    const auto& composer = watcher_->picture().composer;
    return !composer || composer->draft.starts_with(letter.text.substr(0, kEnough)) ||
           composer->draft.starts_with("[Pasted");
  }

  void deliver() {
    std::optional<SteadyTime> again;
    if (ended_ || screen_.modes().synchronized) return look_again(again);  // a frame is being drawn: not now
    const bool ours = !letters_.empty() && letters_.front().injection.begun();
    const bool keys_on_their_way = !unwritten_.empty() || child_->input_waiting() > 0;
    if (keys_on_their_way && !ours) last_typed_ = now();
    while (!letters_.empty()) {
      auto& letter = letters_.front();
      const auto decision = letter.injection.decide({.now = now(),
                                                     .state = state_,
                                                     .since = state_since_,
                                                     .last_typed = last_typed_,
                                                     .draft_is_ours = holds(letter)});
      again = decision.look_again;
      if (decision.step == Step::Wait) {
        tell_waiting(letter, decision.reason);
        break;
      }
      if (decision.step == Step::Paste && !noted(letter)) {  // nothing was written: it begins anew
        letter.injection = fresh_injection();
        tell_waiting(letter, "the note of what is typed cannot be written");
        again = now() + kNoteRetry;
        break;
      }
      carry_out(decision, letter);
      if (decision.step == Step::Paste || decision.step == Step::Enter) {
        again = now() + options_.profile.typing.submit_gap;
        break;
      }
      letters_.pop_front();
      state_since_ = now();  // the next one waits for the screen to settle anew
    }
    look_again(again);
  }

  void carry_out(const Decision& decision, const Letter& letter) {
    const auto end = [&](ReceiptStatus status, std::string_view proof) {
      tell_end(letter.place, {.status = status, .proof = std::string{proof}, .reason = std::string{decision.reason}});
    };
    switch (decision.step) {
      case Step::Wait: break;
      case Step::Paste: type(terminal::encode_paste(letter.text, screen_.modes())); break;
      case Step::Enter: type(terminal::encode_key({.name = terminal::NamedKey::Enter}, screen_.modes())); break;
      case Step::Delivered: end(ReceiptStatus::Delivered, "submitted"); break;
      case Step::Failed: end(ReceiptStatus::Failed, ""); break;
      case Step::InDoubt: end(ReceiptStatus::InDoubt, ""); break;
    }
  }

  /// The note stays while the daemon cannot be told: should we end before, our successor must not type it again.
  void tell_end(const client::Place& place, protocol::Receipt receipt) {
    if (place.id.empty()) return;  // a word of our own
    if (link_->ready()) (void)intent_.remove(place.id);
    link_->report(place, std::move(receipt));
  }

  /// First the note, then the first byte. What cannot be noted is not typed.
  bool noted(const Letter& letter) { return letter.place.id.empty() || intent_.add(letter.place.id).has_value(); }

  void tell_waiting(Letter& letter, std::string_view reason) {
    if (letter.last_reason == reason || letter.place.id.empty() || letter.injection.begun()) return;
    letter.last_reason = reason;
    link_->report(letter.place, {.status = ReceiptStatus::Deferred, .reason = std::string{reason}});
  }

  // ---- the daemon
  void connect() {
    client::LinkOptions link;
    link.socket_path = options_.socket_path;
    link.hello.agent = options_.name;
    link.hello.cli = options_.profile.name;
    link.hello.program = options_.command.argv.front();
    link.hello.working_directory = options_.project_root;
    link.hello.claim_token = options_.claim_token;
    link.patience = client::Patience::never_give_up();
    link_ = std::make_unique<client::Link>(loop_, network_, random_, outbox_, std::move(link), *this);
    link_->start();
  }
  void tell_state() {
    if (!link_ || !link_->ready()) return;
    const std::string_view word = state_ == profiles::State::Idle      ? "idle"
                                  : state_ == profiles::State::Blocked ? "blocked"
                                  : state_ == profiles::State::Unknown ? "starting"
                                                                       : "active";
    protocol::JsonWriter payload;
    payload.field("state", word);
    (void)link_->say(protocol::MessageType::SessionState, payload.take());
  }

  void on_ready(const client::Session&) override { tell_state(); }
  void on_lost(const std::string&, Millis) override {}
  void on_stopped(const Error& why) override {
    trouble_ = why.message();
  }  // the screen is the agent's: said at the end
  void on_sent(const std::string&) override {}
  void on_refused(const std::string&, const protocol::NackView& why) override { explain(why.message); }
  void on_frame(const protocol::Envelope&) override {}

  net::AsioLoop& loop_;
  HostOptions options_;
  client::Outbox& outbox_;
  SystemRandom random_;
  net::UnixNetwork network_{loop_};
  Intent intent_;
  terminal::Screen screen_;
  terminal::Modes seen_modes_;
  terminal::InputSplitter splitter_;
  std::unique_ptr<profiles::Eyes> eyes_;
  std::unique_ptr<profiles::Watcher> watcher_;
  profiles::State state_ = profiles::State::Unknown;
  SteadyTime state_since_{};
  SteadyTime last_typed_{};
  std::deque<Letter> letters_;
  std::string unwritten_;  // at most one turn of typing and one message
  int code_ = 0;
  bool ended_ = false;
  std::string trouble_;

  std::unique_ptr<client::Link> link_;
  std::unique_ptr<pty::PersonTerminal> person_;
  std::unique_ptr<pty::Child> child_;
  std::unique_ptr<net::Timer> timer_;
};

Host::Host(net::AsioLoop& loop, HostOptions options, client::Outbox& outbox)
    : core_{std::make_unique<Core>(loop, std::move(options), outbox)} {}
Host::~Host() = default;

Result<int> Host::run() { return core_->run(); }
const std::string& Host::trouble() const { return core_->trouble(); }

}  // namespace relay::host
