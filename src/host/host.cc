#include "host/host.h"

#include <signal.h>
#include <string.h>
#include <unistd.h>

#include <filesystem>

#include "adapters/launch_facts.h"
#include "base/format.h"
#include "base/log.h"
#include "base/random.h"
#include "client/link.h"
#include "commands/extractor.h"
#include "host/adapter_bridge.h"
#include "host/command_executor.h"
#include "host/control/ended_sessions.h"
#include "host/control/host_server.h"
#include "host/control/peer_classifier.h"
#include "host/control/session_state.h"
#include "host/control/status_report.h"
#include "host/delivery/pipeline.h"
#include "host/event_reporter.h"
#include "host/prompts/dialog_driver.h"
#include "host/screen/agent_input.h"
#include "host/screen/screen_monitor.h"
#include "host/screen/state_since.h"
#include "host/turn_commands.h"
#include "net/signals.h"
#include "net/unix_network.h"
#include "profiles/line_extractor.h"
#include "profiles/registry.h"
#include "pty/forwarded_signals.h"
#include "pty/process_table.h"
#include "pty/user_terminal.h"
#include "terminal/keys.h"
#include "terminal/query_reply.h"
#include "terminal/render.h"
#include "text/utf8.h"

namespace relay::host {
namespace {

constexpr Millis kEndGrace{5'000};
constexpr Millis kLastWords{250};       // of an agent that has ended, in its own record
constexpr Millis kStoreTimeout{2'000};  // for the daemon to store a request before the host shows its agent as blocked
constexpr Millis kMaxGoodbye{2'000};    // for a handshake or answers that are under way when the agent has ended
constexpr pty::WindowSize kUnseenSize{.columns = 120, .rows = 40};

}  // namespace

class Host::Core final : public pty::ProgramListener,
                         public pty::UserTerminalListener,
                         public client::LinkListener,
                         public PipelineActions,
                         public AdapterBridgeListener,
                         public CommandExecutorListener,
                         public HostService {
 public:
  Core(net::AsioLoop& loop, HostOptions options, client::Outbox& outbox)
      : loop_{loop},
        options_{std::move(options)},
        outbox_{outbox},
        desk_{{.notes = *options_.places.outbox,
               .intent_file = options_.places.intent_file,
               .inbox = options_.places.inbox,
               .project_root = options_.places.project_root,
               .long_texts = options_.places.long_texts},
              options_.profile.typing,
              *this},
        native_{std::move(options_.adapter),   *this,           request_prefix(),
                options_.profile.dialogs.keys, fallback_ways(), !options_.record.headless},
        sight_{kUnseenSize},
        bell_{options_.notice, options_.record.name} {}

  Result<pty::ExitStatus> run() {
    RELAY_TRY(desk_.open());
    pty::WindowSize size = kUnseenSize;
    if (headless()) forwarded_ = RELAY_TRY(pty::ForwardedSignals::open());
    if (!options_.detached && !headless() && pty::UserTerminal::is_one()) {
      person_ = RELAY_TRY(pty::UserTerminal::open(loop_, *this));
      size = person_->size();
    }
    RELAY_TRY(sight_.open(options_.profile, size, now()));
    lines_.set_rows(size.rows);
    classify_visitors();
    RELAY_TRY(door_.listen(options_.places.socket));
    prepare_link();
    program_ = RELAY_TRY(options_.start(loop_, size, *this));
    keyboard_.connect(*program_);
    const auto record = RELAY_TRY(announce());
    if (person_) RELAY_TRY(person_->enter_raw());
    std::optional<net::Signals> signals;
    if (headless())
      forwarded_->to(loop_, program_->pid());
    else
      signals.emplace(loop_, std::initializer_list<int>{SIGTERM, SIGINT, SIGHUP}, [this](int number) {
        const char* name = ::sigabbrev_np(number);
        end_agent({.reason = format("the host got SIG{}", name != nullptr ? name : "")});
      });
    link_->start();
    native_.start(loop_, program_->pid());
    if (!options_.record.spawned) report_started(options_.record.pid);
    loop_.run();
    link_.reset();
    person_.reset();
    if (!options_.places.private_file.empty()) ::unlink(options_.places.private_file.c_str());
    return status_;
  }
  [[nodiscard]] const std::string& error() const { return error_; }

 private:
  Result<RecordFile> announce() {
    options_.record.pid = ::getpid();
    options_.record.agent_pid = program_->pid();
    const auto start_of = [](pid_t pid) {
      const auto process = pty::find_process(pid);
      return process ? process->id.start : 0;
    };
    options_.record.start = start_of(options_.record.pid);
    options_.record.agent_start = start_of(options_.record.agent_pid);
    options_.record.boot_id = pty::boot_id();
    options_.record.profile = options_.profile.name;
    options_.record.socket = options_.places.socket;
    options_.record.started_at = loop_.now().wall;
    return RecordFile::write(options_.places.records, options_.record);
  }

  void classify_visitors() {
    namespace fs = std::filesystem;
    const auto projects = fs::path{options_.places.records}.parent_path().parent_path().string();
    const auto doors = fs::path{options_.places.socket}.parent_path().string();
    door_.classify_by(
        [this, classifier = std::make_shared<PeerClassifier>(options_.places.records, projects,
                                                             std::vector{projects, doors})](const net::Peer& peer) {
          // The daemon checks its callers itself, and it may have been started inside an agent.
          if (link_ && peer.pid > 0 && peer.pid == link_->daemon_pid()) return protocol::daemon_origin();
          auto origin = classifier->classify(peer.pid);
          // Its agent may call a hook before the record is written.
          if (origin.is_agent() && origin.agent.empty() && origin.door == options_.places.socket)
            origin.agent = options_.record.name;
          return origin;
        });
  }

  [[nodiscard]] bool has_profile() const { return options_.profile.name != profiles::kGeneric; }
  [[nodiscard]] FallbackWays fallback_ways() const {
    if (has_profile()) return {};
    return {.hear = adapters::way::kLines, .speak = adapters::way::kInboxFile};
  }

  /// Ids of hosts are short; with the time at which it began it is this one's alone.
  [[nodiscard]] std::string request_prefix() const {
    return format("{}-{:x}", options_.record.id, loop_.now().wall / 1'000);
  }

  // ---- the agent
  void on_output(std::string_view bytes) override {
    if (person_) {
      person_->write(bytes);
      if (person_->wants_pause()) {
        program_->pause_output();
        output_paused_ = true;
      }
    }
    feeding_ = true;  // what is looked at meanwhile is not what is there in the end
    sight_.feed(bytes, [this] { look(); });
    feeding_ = false;
    door_.on_output(bytes);
    for (const auto& report : sight_.screen().take_reports())
      if (const auto* seen = std::get_if<terminal::QuerySeen>(&report)) reply_to(seen->query);
    if (person_ && sight_.screen().modes() != seen_modes_) {
      seen_modes_ = sight_.screen().modes();
      (void)person_->set_restore_bytes(terminal::restore_sequence(sight_.screen()));
    }
    if (!has_profile()) hear_lines(bytes);
    look_paced();
  }

  /// A message is complete when the program has been silent for a while.
  void hear_lines(std::string_view bytes) {
    for (const auto& utterance : lines_.feed(bytes)) voice_->execute(utterance);
    lines_settle_at_ = now() + profiles::kSettle;
    if (!lines_timer_) lines_timer_ = loop_.at(lines_settle_at_, [this] { settle_lines(); });
  }
  void settle_lines() {
    lines_timer_ = nullptr;
    if (now() < lines_settle_at_) {
      lines_timer_ = loop_.at(lines_settle_at_, [this] { settle_lines(); });
      return;
    }
    for (const auto& utterance : lines_.settle()) voice_->execute(utterance);
  }

  /// A flood is looked at now and then; the last of it in any case.
  void look_paced() {
    if (now() >= sight_.due()) return look();
    if (!pace_timer_) pace_timer_ = loop_.at(sight_.due(), [this] { look(); });
  }

  /// The person's terminal answers for itself; only the program status is ours to answer, because only we listen.
  void reply_to(const terminal::TerminalQuery& query) {
    const bool answered_elsewhere = person_ || program_->answers_queries();
    if (answered_elsewhere && query.kind != terminal::QueryKind::ProgramStatus) return;
    keyboard_.write(terminal::reply_to_query(query, sight_.screen().size()));
  }

  void on_input_written(std::size_t) override {
    keyboard_.on_writable();
    if (keys_.under_way() && keyboard_.empty()) deliver_soon();
  }

  void on_exit(const pty::ExitStatus& status) override {
    if (forwarded_) forwarded_->stop();
    status_ = status;
    ended_ = true;
    look();
    for (const auto& observation : sight_.watcher().finish()) take(observation);  // its last words
    for (const auto& utterance : lines_.finish()) voice_->execute(utterance);
    lines_timer_ = nullptr;
    if (person_) person_->leave_raw();
    keys_.on_agent_gone();
    door_.on_exit(status.shell_code());
    // What it wrote down last may not have been read yet.
    goodbye_ = goodbye_of(status, released_);
    goodbye_.ended_at = loop_.now().wall;
    end_timer_ = loop_.at(now() + (native_.capabilities().output.empty() ? Millis{0} : kLastWords), [this] {
      desk_.on_agent_exit();
      native_.on_agent_gone();
      leaving_ = true;
      link_->retry_now();
      if (!in_handshake() && !awaits_answers()) return leave();
      end_timer_ = loop_.after(kMaxGoodbye, [this] { leave(); });
    });
  }

  /// Those who wait for a message of the agent are told of its last one.
  [[nodiscard]] bool awaits_answers() const { return link_->ready() && voice_->has_unanswered(); }
  [[nodiscard]] bool in_handshake() const {
    return link_->state() == client::LinkState::Connecting || link_->state() == client::LinkState::Handshaking;
  }
  /// Says how the session ended, once, and stops the loop.
  void leave() {
    if (!std::exchange(leaving_, false)) return;
    leave_record();
    link_->stop(goodbye_);
    loop_.post([this] { loop_.stop(); });
  }
  /// The daemon may be away, or die before it has stored the BYE. It removes the record once the end is durable.
  void leave_record() {
    const auto& session = link_->session().id;
    if (session.empty()) return;
    protocol::EndedSession ended{.agent = options_.record.name, .session = session, .bye = goodbye_, .events = {}};
    for (const auto& event : link_->untold_events()) ended.events.push_back({event.id, event.payload});
    if (const auto written = write_ended_session(options_.places.records, ended); !written)
      log::warn("the end of the session is not recorded", {{"reason", written.error().message()}});
  }
  void leave_soon() {
    if (leaving_ && !awaits_answers()) loop_.post([this] { leave(); });
  }
  void end_agent(ReleaseAgent wish) {
    if (!released_) released_ = std::move(wish);
    program_->end(kEndGrace);
  }

  // ---- the person
  void on_typed(std::string_view bytes) override { client_input(bytes); }
  void on_written(std::size_t bytes_left) override {
    if (bytes_left > 0) return;
    program_->resume_output();
    if (!std::exchange(output_paused_, false)) return;
    sight_.restart_timer(now());
    look();
  }
  void on_resized(pty::WindowSize size) override { resize(size); }
  void on_continued() override {
    person_->write(terminal::render(sight_.screen()));
    (void)program_->resize(person_->size());
  }
  void on_closed(const std::string&) override { end_agent({.reason = "its terminal was closed"}); }
  void on_program_resized(pty::WindowSize size) override {
    sight_.resize(size);
    lines_.set_rows(size.rows);
    door_.on_resized();
    look();
  }

  void resize(pty::WindowSize size) {
    if (!sight_.resize(size)) return;
    lines_.set_rows(size.rows);
    (void)program_->resize(size);
    door_.on_resized();
    look();
  }

  // ---- visitors
  [[nodiscard]] const std::string& agent() const override { return options_.record.name; }
  [[nodiscard]] const terminal::Screen& screen() const override { return sight_.screen(); }
  void describe(text::JsonWriter& answer) const override {
    write_record(answer, options_.record);
    answer.field("state", shown_state_name(shown_state(), sight_.watcher().is_starting()));
  }
  void describe_state(text::JsonWriter& answer) const override {
    auto shown = account();
    shown.state = shown_state();
    write_state(answer, shown);
  }
  void explain(text::JsonWriter& answer) const override { write_status(answer, account()); }
  [[nodiscard]] HostStatus account() const {
    return {.record = options_.record,
            .sight = sight_,
            .native = native_,
            .desk = desk_,
            .teller = *teller_,
            .state = state(),
            .since = state_since_.since(state(), now()),
            .blocker = blocker(),
            .now = loop_.now(),
            .last_typed = keyboard_.typing().any,
            .held = keyboard_.describe_held(),
            .person = person_ != nullptr,
            .connected = link_->ready(),
            .unread = has_profile() ? std::string_view{} : lines_.unread_reason(),
            .error = error_};
  }
  [[nodiscard]] std::string why_no_terminal() const override {
    if (!headless()) return {};
    return format(
        "{} runs without a terminal: its output goes where it was started, and nothing can be typed to it; say it with "
        "`agent-relay send`, which waits for the agent's own interfaces",
        options_.record.name);
  }
  void client_input(std::string_view bytes) override {
    if (pace_timer_) look();  // at all that whoever types may have seen
    if (!has_profile() && program_->may_echo()) lines_.on_echoed_keys(bytes);
    keyboard_.on_user_input(bytes, now());
    look();
  }
  void client_interrupt() override { client_input(options_.profile.typing.interrupt); }
  void client_text(const std::string& text, OnDone done) override {
    look();
    if (desk_.busy()) return done(fail("something else is being typed at this moment; try again in a second"));
    if (auto why = input_blocked_reason(sight_.state(), options_.record.name); !why.empty())
      return done(fail(std::move(why)));
    desk_.inject_user_text(text, now(), std::move(done));
    deliver_soon();
  }
  void client_resize(pty::WindowSize size) override {
    if (!person_) resize(size);  // the person whose terminal it is comes first
  }
  void client_release(const ReleaseAgent& wish) override {
    log::info("released", {{"by", wish.by}, {"reason", wish.reason}});
    end_agent(wish);
  }

  void hook_called(const hooks::HookEvent& event, std::uint64_t call, adapters::Adapter::HookReply reply) override {
    if (!event.permission_mode.empty())  // it may change
      options_.record.permission_mode =
          adapters::mode_told_by_hook(options_.profile.name, options_.record.permission_mode, event.permission_mode);
    native_.on_hook(event, call, std::move(reply));
  }
  void hook_closed(std::uint64_t call) override { native_.on_hook_gone(call); }
  void fetch_messages(const FetchMessages& wish, text::JsonWriter& answer) override {
    desk_.fetch(wish, answer);
    loop_.post([this] {  // the door has sent it by then
      desk_.on_fetched();
      look();
    });
  }
  void describe_prompts(text::JsonWriter& answer) const override { native_.describe_prompts(answer, loop_.now().wall); }
  void answer_prompt(const AnswerPrompt& wish, OnDone done) override {
    if (ended_) return done(fail(protocol::NackCode::Stale, "the agent has ended"));
    if (!native_.on_screen_alone(wish)) return native_.answer(wish, std::move(done));
    if (wish.reply.verdict == adapters::PromptAnswer::Decision::Deny && !wish.reply.message.empty())
      return done(
          fail(protocol::NackCode::Unsupported,
               format("{0}'s dialog takes no message, and nothing was answered; deny it without one, and say the "
                      "reason with: agent-relay send {0} TEXT",
                      options_.record.name)));
    look();  // at what is there now
    keys_.begin(wish, answer_view(), std::move(done));
    deliver_soon();
  }

  void show_dialog(const std::string& prompt) override { native_.show_dialog(prompt); }

  // ---- its own doors
  void on_heard(std::string_view markdown) override {
    for (const auto& utterance : commands::extract(markdown))
      if (turn_speech_.hear_in_record(utterance)) voice_->execute(utterance);
  }
  void on_given(std::string_view text, std::string_view way, std::string_view id) override {
    desk_.on_model_input(text, way, id);
    deliver_soon();
  }
  void on_returned(const std::vector<std::string>& deliveries, std::string_view reason) override {
    desk_.on_returned(deliveries, reason);
    deliver_soon();
  }
  void on_changed() override {
    if (ended_) return;
    state_untold_ = true;  // told once it is known what waits in this state, and why
    if (!holds_state_back()) door_.on_state();
    deliver_soon();
  }
  void on_native_event(const std::string& event) override { door_.on_event(event); }
  void on_agent_event(events::Event event, WallMs at) override {
    const auto* asked = std::get_if<events::PermissionRequested>(&event);
    if (asked != nullptr && !link_->ready())  // there is no daemon whose rules could decide it
      loop_.post([this, request = asked->request_id] { native_.show_dialog(request); });
    if (asked != nullptr || std::holds_alternative<events::QuestionRequested>(event))
      store_due_ = now() + kStoreTimeout;
    teller_->report(std::move(event), at);
  }
  std::string take_words(protocol::DeliveryMode mode, std::size_t max_bytes) override {
    return desk_.take_for_hook(mode, max_bytes, mail_view());
  }

  [[nodiscard]] bool headless() const { return options_.record.headless; }
  /// What the screen shows, and what its own doors say: whoever says "do not disturb" is believed.
  [[nodiscard]] profiles::State state() const {
    const auto known = native_.reported_state();
    if (headless()) return known ? known->state : profiles::State::Working;
    if (!known || sight_.state() == profiles::State::Blocked) return sight_.state();
    if (known->state == profiles::State::Blocked || known->state == profiles::State::Working) return known->state;
    return sight_.state() == profiles::State::Unknown ? known->state : sight_.state();
  }

  /// As others see it: that a dialog is open is told together with what it asks, which is known once it has settled and, while
  /// the daemon is connected, once the daemon lists it.
  [[nodiscard]] profiles::State shown_state() const { return holds_state_back() ? shown_state_ : state(); }
  [[nodiscard]] bool holds_state_back() const {
    return native_.dialog_settles() || (storing_until() && state() == profiles::State::Blocked);
  }
  /// Until then a request that the daemon has not stored is not shown; the host's own knowledge counts afterwards, and without a
  /// daemon.
  [[nodiscard]] std::optional<SteadyTime> storing_until() const {
    if (now() >= store_due_ || !link_->ready() || !teller_->is_storing_request()) return std::nullopt;
    return store_due_;
  }

  [[nodiscard]] profiles::Blocker blocker() const {
    const auto known = native_.reported_state();
    if (known && known->state == profiles::State::Blocked) return profiles::Blocker::Known;
    return sight_.watcher().verdict().blocker;
  }

  // ---- looking
  [[nodiscard]] SteadyTime now() const { return loop_.now().steady; }

  void look() {
    pace_timer_ = nullptr;
    const bool rested = sight_.state() == profiles::State::Idle || sight_.state() == profiles::State::Typing;
    const auto observations = sight_.update(now());
    bool changed = false;
    for (const auto& observation : observations) {  // first what is: nothing below may decide on what was
      if (std::holds_alternative<profiles::StateChanged>(observation)) {
        native_.on_state(sight_.state());
        changed = true;
      }
    }
    if (sight_.state() != profiles::State::Unknown && !sight_.watcher().mid_frame() && !feeding_)
      native_.on_shown(sight_.screen().title(), sight_.watcher().picture().start_page);
    asked_due_ = native_.on_screen(sight_.state(), sight_.watcher().picture().findings, loop_.now());
    state_since_.see(state(), now());
    const auto before = std::exchange(shown_state_, shown_state());
    if (shown_state_ != before || (changed && !holds_state_back())) {
      state_untold_ = true;
      door_.on_state();
    }
    for (const auto& observation : observations) take(observation);
    if (rested && sight_.state() == profiles::State::Working) turn_speech_.begin_turn();
    ring();
    deliver();
    const bool passed = !told_reason_.empty() && desk_.waiting_reason().empty();
    if (std::exchange(state_untold_, false) || passed || desk_.settled_reason() != settled_reason_) report_state();
  }

  void take(const profiles::Observation& observation) {
    const auto can = native_.capabilities();
    if (const auto* said = std::get_if<profiles::CommandSeen>(&observation)) {
      const bool replaces_record = can.output.empty() && !can.hears_soon;
      if (turn_speech_.hear_on_screen(said->utterance, replaces_record)) voice_->execute(said->utterance);
    } else if (const auto* usage = std::get_if<profiles::ScreenUsage>(&observation)) {
      if (can.usage.empty() && !can.hears_soon) report_shown(*usage);
    }
  }

  /// Where nothing better counts: what the screen says of tokens. Those are running totals, so the last one stands for all.
  void report_shown(const profiles::ScreenUsage& usage) {
    if (!usage.input_tokens && !usage.output_tokens) return;
    teller_->report(events::TokensUsed{.model = std::string{text::truncate_utf8(usage.model, 256)},
                                       .input_tokens = usage.input_tokens.value_or(0),
                                       .output_tokens = usage.output_tokens.value_or(0),
                                       .cache_read_tokens = usage.cached_tokens,
                                       .estimated_cost_usd = usage.cost_dollars,
                                       .request_id = std::string{adapters::way::kScreen},
                                       .source = std::string{adapters::way::kScreen}},
                    loop_.now().wall);
  }

  /// Between two sequences of the agent's, or with the next look.
  void ring() {
    bell_due_.reset();
    if (!person_ || ended_ || !sight_.screen().in_ground_state()) return;
    if (const auto& rule = native_.approving_rule(); !rule.empty()) bell_.note_approval(rule);
    const auto notice = bell_.notification(native_.unanswered(), now());
    if (!notice.empty()) person_->write(notice);
    bell_due_ = bell_.due();
  }

  void recheck(std::optional<SteadyTime> at) {
    const auto keys_due = ended_ ? std::nullopt : keyboard_.due();  // held keys end with the program
    for (const auto due :
         {sight_.watcher().next_update_at(), asked_due_, answer_due_, bell_due_, keys_due, storing_until()})
      if (due) at = at ? std::min(*at, *due) : *due;
    timer_ = at ? loop_.at(*at, [this] { look(); }) : nullptr;
  }

  // ---- what it says
  void on_command_sent(std::string_view to, std::string_view kind) override { door_.on_said(to, kind); }
  void on_command_failed(std::string_view why) override {
    log::debug("agent told that something was not done",
               {{"agent", options_.record.name}, {"reason", std::string{why}}});
    desk_.explain(why, has_profile(), loop_.now().wall);
    deliver_soon();
  }

  // ---- what it hears
  client::AckMode on_incoming(const client::IncomingMessage& incoming) override {
    const auto message = desk_.receive(incoming, loop_.now().wall);
    text::JsonWriter event;
    event.field("event", "message").field("id", message.id).field("from", message.from);
    door_.on_event(event.take());
    deliver_soon();
    return client::AckMode::Later;
  }
  void on_moved(const client::DeliveryRef& place, protocol::DeliveryMode mode) override {
    desk_.move(place, mode);
    door_.on_event(R"({"event":"message"})");  // whoever waits for mail may have it now
    deliver_soon();
  }
  bool on_cancel(const protocol::CancelCommand& order) override {
    deliver_soon();  // the next one may go in its place
    return desk_.cancel(order.delivery_id);
  }
  void on_pause(const protocol::PauseCommand& order) override {
    desk_.pause(order);
    notify_pause(order);
    deliver_soon();
  }
  void on_pause_lapsed() override { notify_pause({.paused = false}); }
  void notify_pause(const protocol::PauseCommand& order) {
    text::JsonWriter event;
    event.field("event", "pause").field("paused", order.paused).optional("reason", order.reason);
    door_.on_event(event.take());
  }
  [[nodiscard]] DeliveryPipeline::View mail_view() {
    return {.now = now(),
            .wall = loop_.now().wall,
            .state = state(),
            .screen = sight_.state(),
            .blocker = blocker(),
            .since = sight_.since(),
            .typing = keyboard_.typing(),
            .composer = &sight_.watcher().picture().composer,
            .revision = sight_.screen().revision(),
            .keys = keyboard_.held(now()),
            .drained = keyboard_.empty(),
            .takes_lines = sight_.screen().modes().bracketed_paste,
            .can = native_.capabilities(),
            .typed_into = has_profile()};
  }
  [[nodiscard]] DialogDriver::View answer_view() const {
    const bool blocked = sight_.state() == profiles::State::Blocked;
    return {.now = now(),
            .asking = blocked ? &sight_.watcher().picture().findings : nullptr,
            .since = sight_.since(),
            .typed = keyboard_.typing().any,
            .steady = keyboard_.empty() && !sight_.watcher().mid_frame() && !output_paused_ && !feeding_};
  }
  void deliver_soon() {
    loop_.post([this] { look(); });
  }

  /// Keys that were pressed before a dialog was drawn are not for the dialog.
  [[nodiscard]] KeyHold keys_to_hold() const {
    return key_hold({.state = state(),
                     .blocker = blocker(),
                     .screen = sight_.state(),
                     .mid_frame = sight_.watcher().mid_frame(),
                     .message_unsent = desk_.holds_keys(),
                     .overtaken = keyboard_.overtaken()});
  }

  void deliver() {
    answer_due_.reset();
    // While a frame is drawn, or output waits for a slow terminal, what we see is not what there is.
    if (ended_ || sight_.watcher().mid_frame() || output_paused_) {
      if (!ended_) keyboard_.hold(keys_to_hold(), now(), sight_.watcher().covered_since());
      return recheck({});
    }
    if (!keyboard_.empty() && !desk_.is_injecting() && !keys_.under_way()) keyboard_.extend_typing(now());
    answer_due_ = keys_.look(answer_view());
    const auto again = desk_.deliver(mail_view());
    if (keyboard_.hold(keys_to_hold(), now(), sight_.watcher().covered_since())) deliver_soon();
    recheck(again);
  }

  void hand_over(const adapters::NativeDelivery& words, adapters::Adapter::OnAccepted done) override {
    native_.deliver(words, std::move(done));
  }
  void interrupt() override { keyboard_.write(options_.profile.typing.interrupt); }
  void paste(std::string_view text) override { keyboard_.write(terminal::encode_paste(text, sight_.screen().modes())); }
  void press_enter() override { press({.name = terminal::NamedKey::Enter}); }
  void erase(std::size_t characters) override {
    const auto key = terminal::encode_key({.name = terminal::NamedKey::Backspace}, sight_.screen().modes());
    std::string keys;
    for (std::size_t i = 0; i < characters; ++i) keys += key;
    keyboard_.write(keys);
  }
  void press(const terminal::Key& key) { keyboard_.write(terminal::encode_key(key, sight_.screen().modes())); }
  void report(const client::DeliveryRef& place, protocol::Receipt receipt) override {
    log::debug("delivery step", {{"agent", options_.record.name},
                                 {"delivery", place.id},
                                 {"status", std::string{protocol::name_of(receipt.status)}},
                                 {"proof", receipt.proof},
                                 {"via", receipt.via},
                                 {"evidence", receipt.evidence},
                                 {"reason", receipt.reason}});
    link_->report(place, std::move(receipt));
  }

  // ---- the daemon
  void prepare_link() {
    client::LinkOptions link;
    link.socket_path = options_.places.workspace_socket;
    link.hello = hello_of(options_.record, options_.claim_token, native_.modes());
    link.timeout = client::RetryLimit::never_give_up();
    link_ = std::make_unique<client::Link>(loop_, network_, random_, outbox_, std::move(link), *this);
    teller_ = std::make_unique<EventReporter>(*link_, options_.record.name);
    voice_ = std::make_unique<CommandExecutor>(
        *link_, OutgoingFiles{options_.places.project_root, options_.places.outgoing}, *this);
  }
  void report_state() {
    if (!link_->ready()) return;
    told_reason_ = desk_.waiting_reason();
    settled_reason_ = desk_.settled_reason();
    log::debug("state told", {{"agent", options_.record.name},
                              {"state", std::string{profiles::name_of(shown_state())}},
                              {"waits", told_reason_},
                              {"interfaces", native_.capability_codes()}});
    const auto modes = native_.modes();
    const auto news = std::exchange(told_modes_, modes) == modes ? std::nullopt : std::optional{modes};
    (void)link_->send_frame(
        protocol::MessageType::SessionState,
        session_state(shown_state(), sight_.watcher().is_starting(), told_reason_, native_.capability_codes(), news));
  }
  void on_ready(const client::Session& session) override {
    report_started(options_.record.pid);
    told_modes_.reset();  // what HELLO says was true when the host began
    desk_.on_connected(now());
    deliver_soon();
    report_state();
    teller_->report_again(native_.requests(), session.id, loop_.now().wall);
    voice_->on_ready();
    leave_soon();  // behind what waits to be sent
  }
  void on_event_acked() override {
    if (teller_->close_gap(loop_.now().wall))
      teller_->report_again(native_.requests(), link_->session().id, loop_.now().wall);
    show_held_state();
  }
  /// The daemon has stored a request, or is away.
  void show_held_state() {
    if (!ended_ && shown_state() != shown_state_) deliver_soon();
  }
  void report_started(Result<pid_t> outcome) {
    if (auto tell = std::exchange(options_.on_started, nullptr)) tell(std::move(outcome));
  }
  void on_lost(const std::string&, Millis) override {
    show_held_state();
    leave_soon();
  }
  /// The screen is the agent's: said at the end, and to who asks.
  void on_stopped(const Error& why) override {
    error_ = why.message();
    leave_soon();
    if (options_.on_started) {  // spawned under a name it cannot have: it is of no use to anybody
      report_started(Failure{why});
      return program_->end(kEndGrace);
    }
    voice_->on_stopped(error_);
    on_command_failed(format("you are not connected to the others any more: {}", error_));
  }
  void on_sent(const std::string& id) override {
    if (voice_) voice_->on_sent(id);
    desk_.understood();
    leave_soon();
  }
  void on_refused(const std::string& id, const protocol::Nack& why) override {
    if (voice_) voice_->on_refused(id);
    on_command_failed(why.message);
    leave_soon();
  }
  void on_frame(const protocol::Envelope&) override {}

  net::AsioLoop& loop_;
  HostOptions options_;
  client::Outbox& outbox_;
  SystemRandom random_;
  net::UnixNetwork network_{loop_};
  DeliveryPipeline desk_;
  AdapterBridge native_;
  DialogDriver keys_{native_, options_.profile, [this](const terminal::Key& key) { press(key); }};
  AgentInput keyboard_{[this](bool crowded) {
    // A program that does not read costs people's keys a wait, never memory.
    if (person_) crowded ? person_->pause_typing() : person_->resume_typing();
    door_.on_backpressure(crowded);
  }};
  ScreenMonitor sight_;
  profiles::LineExtractor lines_;  // of a program without a profile
  SteadyTime lines_settle_at_{};
  TurnSpeech turn_speech_;
  TerminalNotifier bell_;
  terminal::Modes seen_modes_;
  pty::ExitStatus status_;
  bool ended_ = false;
  bool state_untold_ = false;             // it changed since the daemon was told
  bool leaving_ = false;                  // everything is done but the goodbye
  std::optional<ReleaseAgent> released_;  // who ends the agent, and why
  protocol::Bye goodbye_;                 // how its session ended
  bool output_paused_ = false;            // the person's terminal is slow
  bool feeding_ = false;                  // only a part of what came was seen
  std::string error_;
  std::string told_reason_;     // why mail waits, as the daemon knows it
  std::string settled_reason_;  // the same as the history told it then
  StateSince state_since_;
  profiles::State shown_state_ = profiles::State::Unknown;
  SteadyTime store_due_{};                             // by when the daemon should have stored what was asked last
  std::optional<SteadyTime> asked_due_;                // when a dialog has stood long enough to be told
  std::optional<SteadyTime> answer_due_;               // when keys that answer a dialog must have been taken
  std::optional<SteadyTime> bell_due_;                 // when the person is to be called
  std::optional<protocol::DeliveryModes> told_modes_;  // in which it can be spoken to, as the daemon knows it

  std::unique_ptr<client::Link> link_;
  std::unique_ptr<EventReporter> teller_;
  std::unique_ptr<CommandExecutor> voice_;
  std::unique_ptr<pty::UserTerminal> person_;
  std::unique_ptr<pty::ForwardedSignals> forwarded_;  // of a headless one
  std::unique_ptr<pty::Program> program_;
  HostServer door_{loop_, network_, *this};
  std::unique_ptr<net::Timer> timer_;
  std::unique_ptr<net::Timer> pace_timer_;
  std::unique_ptr<net::Timer> lines_timer_;
  std::unique_ptr<net::Timer> end_timer_;  // its own: looking once more must not put off the end
};

Host::Host(net::AsioLoop& loop, HostOptions options, client::Outbox& outbox)
    : core_{std::make_unique<Core>(loop, std::move(options), outbox)} {}
Host::~Host() = default;

Result<pty::ExitStatus> Host::run() { return core_->run(); }
const std::string& Host::error() const { return core_->error(); }

}  // namespace relay::host
