/// The broker's inside: one state, its methods spread over files by concept.
///
///   core.cc        connections, frames find their handler, timers
///   commits.cc     changes gathered into one commit, and what waits for it
///   handshake.cc   HELLO, RESUME, names and their owners, leaving
///   authority.cc   what only the user may do
///   forgetting.cc  names that nobody uses any more
///   routing.cc     SEND: limits, audience, commit
///   answering.cc   what a SEND is told, and what is remembered of it
///   blocking.cc    senders that wait for an answer, and which message is one
///   delivery.cc    DELIVER: windows, resending, expiry, what was put off
///   gates.cc       which lanes of an agent are open
///   receipts.cc    ACK, RECEIPT: the ledger's lines, and who is told
///   afterwards.cc  what is said of deliveries that are not in flight any more, or in hand since before
///   steering.cc    a person's hand: flush, cancel, redeliver, pause, policy
///   listings.cc    what it may want to know before: dead letters, loops, channels
///   channels.cc    channels and shadows
///   voting.cc      consensus
///   queries.cc     STATUS and its like, answers from the store
///   workers.cc     agents that run for others: SPAWN, RELEASE, SEND_INPUT, LIST_WORKERS
///   asking.cc      what agents ask a person: kept while it is open, decided by rules, answered
///   watching.cc    the log of events: who follows it, questions about it
///   happenings.cc  what is worth a line in the log, and what sessions tell of themselves
#pragma once

#include <deque>
#include <functional>
#include <initializer_list>
#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <variant>
#include <vector>

#include "broker/active_senders.h"
#include "broker/broker.h"
#include "broker/confusable_names.h"
#include "broker/consensus.h"
#include "broker/loop_breaker.h"
#include "broker/peer.h"
#include "broker/pending.h"
#include "broker/spawn_policy.h"
#include "broker/streams.h"
#include "broker/timers.h"
#include "broker/unseen_changes.h"
#include "broker/vector_queue.h"
#include "events/event.h"
#include "protocol/bye.h"
#include "protocol/contract.h"
#include "protocol/control.h"
#include "protocol/envelope.h"
#include "protocol/prompt_requests.h"
#include "protocol/requests.h"
#include "protocol/send.h"
#include "protocol/worker_requests.h"
#include "text/json_writer.h"

namespace relay::broker {

inline constexpr std::int64_t kBusyRetryMs = 250;       // told with BUSY
inline constexpr std::int64_t kStorageRetryMs = 1'000;  // told with STORAGE
inline constexpr std::string_view kRedeliveredAs =
    "redelivered as ";  // begins the last line of one that was begun anew

class Core {
 public:
  Core(const BrokerLimits& limits, ServerInfo info, records::WorkspaceState snapshot, Random& random, Timestamp now);

  // --- core.cc
  void connect(ConnectionId id, PeerProcess peer);
  void frame(ConnectionId id, std::string_view frame);
  void bad_stream(ConnectionId id, std::string_view reason);
  void written(ConnectionId id, std::size_t left);
  void disconnect(ConnectionId id, std::string_view reason);
  void committed(records::CommitTicket up_to, records::EventSeq newest);
  void see_events(records::EventSeq newest);
  void commit_failed(records::CommitTicket from, records::CommitTicket to, std::string_view why);
  void damaged(const StoreDamage& damage);
  void tick();
  void shut_down(std::string_view reason);
  Effects take_effects(Broker::Batching gathering);
  [[nodiscard]] std::optional<SteadyTime> next_tick() const;
  void give_back(Effects effects);
  [[nodiscard]] bool has_gathered() const;
  [[nodiscard]] bool quiet() const { return pending_.empty() && changes_.empty(); }
  [[nodiscard]] std::vector<RosterEntry> roster() const;
  void set_now(Timestamp now) { now_ = now; }

  // --- delivery.cc
  void backlog(records::BacklogPage page);
  void backlog_failed(const records::BacklogRequest& asked, std::string_view why);
  void expired(records::ExpireResult result);
  void expire_failed(std::string_view why);
  void held(QueryId id, Result<records::HeldPage> page);

  // --- steering.cc
  void dead(QueryId id, Result<std::vector<records::DeadLetter>> letters);

  // --- queries.cc
  void messages(QueryId id, Result<std::vector<records::MessageRow>> rows);
  void trace(QueryId id, Result<records::Trace> trace);
  void stats(QueryId id, Result<records::StoreStats> stats);

  // --- watching.cc
  void events(QueryId id, Result<records::EventPage> page);
  void usage(QueryId id, Result<std::vector<records::UsageSum>> sums);
  void session(QueryId id, Result<records::SessionRow> row);

  // --- workers.cc
  void host_started(QueryId id, Result<std::int32_t> pid);
  void host_done(QueryId id, Result<void> outcome);
  void hosts(QueryId id, Result<std::vector<Worker>> workers);

  // --- forgetting.cc
  void forget_unused(WallMs older_than);

  // --- asking.cc
  void host_answered(QueryId id, Result<void> outcome);
  void ended_sessions(const std::vector<protocol::EndedSession>& found);
  void use_policy(std::shared_ptr<const permissions::Policy> policy) { policy_ = std::move(policy); }
  void use_spawn_policy(std::shared_ptr<const SpawnPolicy> policy) { spawn_policy_ = std::move(policy); }

 private:
  enum class Occurrence : std::uint8_t { First, Repeated };

  // --- core.cc and commits.cc
  void handle(ConnectionState& connection, std::string_view frame);
  void refuse_frame(ConnectionState& connection, std::string_view frame, const Error& problem);
  void dispatch(ConnectionState& connection, const protocol::Envelope& envelope, std::string_view frame);
  void run_timer(SteadyTime due, const TimerEntry& entry);
  void send_bye_to_all(const std::string& reason);
  void poll_heartbeat(ConnectionState& connection, SteadyTime due);

  void emit(Effect effect) { effects_.push_back(std::move(effect)); }
  void note(WriteLog::Level level, std::string text) { emit(WriteLog{level, std::move(text)}); }
  void send(ConnectionState& connection, std::string frame);
  void send(ConnectionState& connection, const protocol::OutEnvelope& envelope);
  /// Envelope with a fresh id and the present time.
  void send_new(ConnectionState& connection, protocol::MessageType type, std::string_view payload,
                std::string_view from = {}, std::string_view to = {});
  void error(ConnectionState& connection, protocol::ErrorCode code, std::string_view message,
             protocol::Fatal fatal = protocol::Fatal::No);
  /// A last word, then the close; the connection leaves its agent at once.
  void close(ConnectionState& connection, std::string reason);
  void pause(ConnectionState& connection, Pause reason);
  void resume(ConnectionState& connection, Pause reason);
  [[nodiscard]] std::string fresh_id() { return random_.hex(12); }
  [[nodiscard]] Key next_key() { return newest_ = Key{newest_.value() + 1}; }

  template <class Kind>
  void change(Kind&& change) {
    changes_.emplace_back(std::forward<Kind>(change));
  }
  /// Counts what a frame made us remember as its sender's uncommitted bytes, until it is saved.
  void charge(ConnectionState& connection, std::size_t bytes, std::size_t limit);
  void charge_message(ConnectionState& connection, std::size_t bytes);
  /// Ends that charge with the change gathered last; false when something else was gathered behind it.
  bool charge_with_last_save(ConnectionId speaker, std::size_t bytes);
  [[nodiscard]] std::size_t fair_share() const;
  /// Runs when the fate of everything gathered so far is known; at once when nothing waits.
  void when_committed(std::move_only_function<void(CommitResult)> done);
  /// Runs when everything gathered so far is saved, however many tries that takes.
  void when_saved(std::move_only_function<void()> done, records::CommitMode haste = records::CommitMode::Immediate);
  [[nodiscard]] bool nothing_unsaved() const;
  /// Ends the gathering: whatever is asked of the store next comes after it.
  void flush_changes();
  [[nodiscard]] records::CommitMode haste_of(records::CommitTicket ticket) const;
  void settle(Pending& pending, CommitResult saving, std::string_view why);
  void finish(PendingSend& send, CommitResult saving, std::string_view why);
  std::string answer_to(const PendingSend& sent);
  void await_receipts(ConnectionState& sender, const PendingSend& sent);
  void deliver_committed(AgentState& to, OutboundDelivery parcel);
  void retry_unsaved();
  void add_again(PendingSend& post);
  void fail_gathered();
  void try_store_again();
  void store_recovered();
  void release_uncommitted(ConnectionState* connection, std::size_t bytes);
  void resume_released();
  /// Saves a change nobody waits for; tried again later if the store fails.
  void save_eventually(records::Change change, std::optional<ReceiptContext> news = {});

  ConnectionState* find(ConnectionId id);
  AgentState* find_agent(std::string_view name);

  // --- handshake.cc
  void on_hello(ConnectionState& connection, const protocol::Envelope& envelope, std::string_view frame);
  /// The connection's frames that came while it was opened.
  void handle_held(ConnectionId id);
  void on_resume(ConnectionState& connection, const protocol::Envelope& envelope);
  void mark_reconnected(AgentState& agent);
  void on_bye(ConnectionState& connection, const protocol::Envelope& envelope);
  void open_query_connection(ConnectionState& connection, const protocol::Hello& hello);
  [[nodiscard]] bool is_claimed(const AgentState& agent) const;
  [[nodiscard]] bool in_audience(const AgentState& agent) const;
  /// May this newcomer have the name? Evicts the present owner if so, answers the newcomer if not.
  bool take_name(ConnectionState& newcomer, AgentState& agent, bool entitled);
  void open_session(ConnectionState& connection, AgentState& agent, const protocol::Hello& hello,
                    std::string earlier_claim);
  void open_when_saved(ConnectionState& connection, AgentState& agent, std::string earlier_claim);
  void welcome(ConnectionState& connection, const AgentState& agent);
  void activate(ConnectionState& connection, AgentState& agent);
  void detach(ConnectionState& connection);
  /// How a session ended, by the word of whoever noticed.
  struct Ending {
    events::SessionEnd how{};
    std::string by = {};  // who released it
    std::string detail = {};
    bool lost = false;  // without a goodbye: a claim on its name goes on
    WallMs at = 0;      // as its host says; 0: now
  };
  static Ending ending_of(const protocol::Bye& bye);
  /// Once per session. A RELEASE that is being carried out overrides what is said of the end.
  void end_session(AgentState& agent, Ending ending);
  void arm_grace(AgentState& agent, Millis grace);
  void end_lost_session(AgentState& agent);
  /// Asks for the records that hosts left of their ends; `ended_sessions` is called with them.
  void find_ended_sessions();
  void end_by_record(const protocol::EndedSession& ended);
  void announce(const AgentState& agent);
  void update_record(AgentState& agent, const protocol::Hello& hello);
  AgentState& add_agent(const std::string& name);
  void erase_agent(const std::string& name);
  /// Why the name cannot be told from one that is reserved or in use; empty when it can.
  [[nodiscard]] std::string confusable_reason(std::string_view name);

  // --- forgetting.cc
  /// Is there room for one name more, beside `others` that are promised? The longest unused ones are forgotten for it.
  [[nodiscard]] bool has_room_for_name(std::size_t others = 0);
  void forget_unused(WallMs older_than, std::vector<std::string> names);
  /// Members of channels and voters: their names are kept.
  [[nodiscard]] std::set<AgentName> needed_names() const;
  [[nodiscard]] std::vector<std::string> unused_names(WallMs older_than, std::size_t most) const;
  /// Not connected, not resumable, not claimed; nothing waits for it, and the user set nothing for it.
  [[nodiscard]] bool is_unused(const AgentState& agent, WallMs older_than) const;
  void forget_names(const std::vector<std::string>& names);
  void see_guest(AgentState& guest);
  [[nodiscard]] bool has_room(std::size_t others) const;
  /// Its description has changed.
  void count_description(AgentState& agent);

  // --- authority.cc
  struct Rejection {
    protocol::NackCode refusal;
    std::string sentence;
    std::int64_t retry_after_ms = 0;
  };
  /// Why this connection may not do what only the user may; `action` follows "only the user may". None: it may.
  [[nodiscard]] static std::optional<Rejection> require_user(const ConnectionState& connection,
                                                             std::string_view action);
  /// The connection is a session of that agent, or belongs to a process inside it.
  [[nodiscard]] static bool is_same_agent(const ConnectionState& connection, std::string_view agent);
  [[nodiscard]] static std::optional<Rejection> check_member(const ConnectionState& connection,
                                                             const AgentName& member);
  /// Messages that wait are read by the user and by their recipient.
  [[nodiscard]] static std::optional<Rejection> check_reader(const ConnectionState& connection,
                                                             const AgentName& recipient);
  /// Notes whether the connection is one of the daemon's own programs.
  void check_system_token(ConnectionState& connection, std::string_view token) const;
  /// Why the connection may not use this name, whoever has it; none: it may.
  [[nodiscard]] std::optional<Rejection> check_name_use(const ConnectionState& connection, std::string_view name) const;
  [[nodiscard]] std::optional<Rejection> check_hello_name(const ConnectionState& connection,
                                                          const protocol::Hello& hello) const;
  /// Does what it says under this name have the user's authority?
  [[nodiscard]] static bool speaks_as_user(const ConnectionState& connection, std::string_view from);
  /// The same of the task of a SPAWN: the command line shows the token where the user gives it under their own name.
  [[nodiscard]] bool gives_task_as_user(const ConnectionState& connection, const protocol::SpawnRequest& spawn,
                                        std::string_view token) const;
  [[nodiscard]] bool is_system_token(std::string_view token) const;

  // --- routing.cc
  void on_send(ConnectionState& connection, const protocol::Envelope& envelope, std::size_t frame_bytes);
  /// What the parts of one SEND need to know of it.
  struct SendContext {
    ConnectionState& connection;
    const protocol::Envelope& envelope;
    AgentState* sender;  // none for query-only connections
    AgentName from;
    std::size_t bytes;
    protocol::SendView view;
    protocol::SendMeta meta;
    std::optional<std::uint64_t> number;  // within its outbox
    std::string_view to = envelope.to;    // a name, `*`, a channel
  };
  bool admit_one_shot(ConnectionState& connection, const protocol::Envelope& envelope);
  /// May somebody without a session of his own speak under this name?
  std::optional<Rejection> check_one_shot_sender(const ConnectionState& connection, std::string_view name,
                                                 std::string_view claim_token);
  /// Known from now on, so that answers find their way back.
  AgentState& register_one_shot_sender(std::string_view name);
  bool already_answered(SendContext& sending);
  bool within_rate(SendContext& sending);
  /// Will it still fit a frame once names, numbers and splices surround it?
  bool fits_a_frame(SendContext& sending);
  Result<std::vector<AgentState*>> recipients_of(SendContext& sending);
  void refuse(SendContext& sending, protocol::NackCode refusal, std::string_view message,
              std::int64_t retry_after_ms = 0);
  void refuse(ConnectionState& connection, std::string_view id, protocol::NackCode refusal, std::string_view message,
              std::int64_t retry_after_ms = 0);
  /// Is there room for the numbers of its streams? Idle ones are forgotten for it.
  std::optional<Rejection> check_streams(const Topic& topic, const AgentName& from, protocol::Lane lane,
                                         const std::vector<AgentState*>& audience);
  /// Of what this agent says or hears the user is one end: its own name, a session of the user's, or a name without a
  /// session under which the user spoke last. The user answers nobody by itself, so the loop breaker does not count it.
  [[nodiscard]] static bool stands_for_user(const AgentState& agent);
  /// What the recipients' policies and the loop breaker say.
  std::optional<Rejection> check_policy_and_loops(const SendContext& sending, const std::vector<AgentState*>& audience);
  /// Its time was over before it came: why, or nothing.
  [[nodiscard]] std::string_view too_late(const SendContext& sending) const;
  /// The same wish under another id: it has its answer.
  bool is_duplicate_key(SendContext& sending);
  [[nodiscard]] static LoopBreaker::Sent loop_view(const SendContext& sending,
                                                   const std::vector<AgentState*>& audience);
  void accept(SendContext& sending, std::string_view to, const std::vector<AgentState*>& audience,
              records::FrameKind frame_kind);
  /// How the copies of one message travel.
  struct CopyOptions {
    records::FrameKind frame_kind = records::FrameKind::Deliver;
    protocol::Lane lane = {};
    WallMs expires_at = 0;
    std::string shadow_of = {};
  };
  void add_delivery(PendingSend& pending, AgentState& to, const CopyOptions& travel);
  [[nodiscard]] static std::string held_by_policy(const AgentName& name);
  void add_shadow_copies(PendingSend& pending, const std::vector<AgentState*>& audience, WallMs expires_at);
  void remember(SendContext& sending, PendingSend& pending);
  /// A SEND to us whose answer was lost with a failed commit comes again.
  [[nodiscard]] bool carried_out_before(const SendContext& sending) const;
  /// For a SEND that becomes something other than a message: its answer, once that is committed.
  void acknowledge_when_saved(SendContext& sending);
  /// A commit failed: the same id may come again.
  void forget_send(const AgentName& from, const std::string& id, const std::string& epoch, std::uint64_t number);
  void forget_wish(const PendingSend& sent);
  /// A message of our own making (votes, triggers), stored and delivered like any other.
  void post(std::string_view from, const std::vector<AgentState*>& audience, std::string_view kind,
            std::string_view body, std::string_view data, std::string_view thread = {});
  /// The same for one that is written already; it gets its key, id and time here.
  enum class Copies : std::uint8_t { None, ForShadows };
  Key post(records::Message message, const std::vector<AgentState*>& audience, Copies copies);
  [[nodiscard]] std::string unknown_recipient(std::string_view name) const;

  // --- blocking.cc
  /// Registers a blocking SEND; false when it was refused.
  bool await_answer(SendContext& sending);
  /// An ordinary message may be the answer its recipient waits for.
  std::optional<AgentName> answer_syncs(const records::Message& message);
  /// A message without thread and `replyTo` gets the `replyTo` of the only open request that it can be the answer to.
  void mark_plain_answer(const SendContext& sending, records::Message& message);
  /// The asked agent was given the message of a request.
  void mark_request_given(const AgentName& asked, Key message);
  /// The commit of a message failed: it is neither a request nor an answer.
  void forget_request(const records::Message& message);
  /// The asker is gone: nobody waits for its answers.
  void end_requests_of(const ConnectionState& asker);
  [[nodiscard]] std::optional<records::Proof> best_proof(const AgentState& agent) const;

  // --- delivery.cc
  void deliver_pending(AgentState& agent);
  void end_page_look(const AgentName& name);
  void deliver(AgentState& agent, InFlight& item);
  [[nodiscard]] std::string frame_of(const AgentState& agent, const OutboundDelivery& parcel) const;
  void transmit(AgentState& agent, const OutboundDelivery& parcel);
  void put_off_resend(InFlight& item) const;
  void resend_due(AgentState& agent, SteadyTime due);
  void arm_resend(AgentState& agent, SteadyTime at);
  void arm_expiry(WallMs at);
  void expire_due();
  void arm_due(WallMs at);
  void look_for_due();
  /// Gives a delivery a new place at the end of a queue, once that is saved; false when it has ended meanwhile.
  bool requeue(const records::Delivery& delivery, const Topic& topic, protocol::Lane lane, std::string reason);
  /// Does it wait for a time or a word? The row may be older than what was decided meanwhile.
  [[nodiscard]] bool is_held(Key key, records::Hold hold) const;
  /// A message as far as it is known without its text.
  static std::shared_ptr<const records::Message> heading_of(Key key, const AgentName& from, const AgentName& to);
  [[nodiscard]] SettledWhen done_rule(const AgentState& agent, const OutboundDelivery& parcel);
  [[nodiscard]] bool has_room(const AgentState& agent);
  [[nodiscard]] bool is_being_read(const AgentState& agent);

  // --- gates.cc
  enum class LaneBlock : std::uint8_t { No, Away, Paused, Unsupported, Manual, Boundary, Busy };
  struct LaneState {
    LaneBlock closed = LaneBlock::No;
    Key up_to = kNoLimit;  // when it is open: only deliveries up to this rank
  };
  [[nodiscard]] LaneState lane_state(const AgentState& agent, protocol::Lane lane) const;
  /// Of a message in mode `manual`.
  [[nodiscard]] static std::string held_as_manual(const AgentName& to);
  [[nodiscard]] static std::string block_reason(const AgentState& agent, protocol::Lane lane, LaneBlock closed);
  /// A look at what waits in lanes that a session cannot serve.
  struct UnsupportedScan {
    AgentName agent;
    protocol::DeliveryMode mode{};
    Key cursor = {};
    UnseenChanges::ReadId look = 0;
  };
  void scan_unsupported(AgentState& agent);
  void ask_unable(UnsupportedScan unable);
  void defer_unsupported(AgentState& agent, const records::Delivery& delivery);
  void unable_page(UnsupportedScan unable, const Result<records::HeldPage>& page);
  [[nodiscard]] LaneLimit open_lanes(const AgentState& agent) const;
  /// In words, for a delivery that is not final.
  [[nodiscard]] std::string pending_reason(const records::Delivery& delivery, std::string_view last_reason);

  // --- receipts.cc
  void on_ack(ConnectionState& connection, const protocol::Envelope& envelope);
  void on_nack(ConnectionState& connection, const protocol::Envelope& envelope);
  void on_receipt(ConnectionState& connection, const protocol::Envelope& envelope);
  static records::ChangeDelivery history_entry_of(Key key, const protocol::Receipt& receipt);
  /// The state that it ends the delivery in, if it does.
  static std::optional<records::DeliveryState> end_of(const AgentState& agent, const protocol::Receipt& receipt);
  void on_receipt_for(AgentState& agent, Key key, const protocol::Receipt& receipt);
  void keep(AgentState& agent, InFlight& item, records::ChangeDelivery line);
  void complete(AgentState& agent, const InFlight& item, records::ChangeDelivery line);
  /// An end without delivery.
  void end_delivery(AgentState& agent, const OutboundDelivery& parcel, records::DeliveryState state,
                    records::ChangeDelivery line);
  template <class Again>
  void take_given_back(AgentState& agent, const InFlight& item, Again again);
  void retry_later(AgentState& agent, const InFlight& item, records::ChangeDelivery line, std::int64_t wait_ms);
  void defer(AgentState& agent, const InFlight& item, records::ChangeDelivery line, WallMs until);
  /// A message that is committed, and a delivery that became Delivered: the store counts the same.
  void count_sent(const AgentName& sender);
  void count_received(AgentState& agent);
  void settle_delivery(AgentState& agent, Key key);
  /// One line of the ledger: saved, and then told.
  void record_history(AgentState& agent, std::shared_ptr<const records::Message> message, records::ChangeDelivery line,
                      std::optional<protocol::NackCode> code = {});
  void tell(const records::ChangeDelivery& line, const ReceiptContext& news);
  struct AwaitedReceipts {
    ConnectionId connection;
    std::string id;
    std::map<Key, AgentName> open;  // deliveries without an end yet
    bool steps = false;             // every change is told, not only the end
    std::set<Key> delivered = {};   // of the open ones, those that may still be seen
    bool followed = false;          // all of the open ones are
  };
  /// A RECEIPT to whoever asked for one.
  void send_receipt(Key message, const records::ChangeDelivery& line, std::optional<protocol::NackCode> code = {});
  void end_receipts(std::map<Key, AwaitedReceipts>::iterator awaited);

  // --- afterwards.cc
  /// A look at deliveries that a session spoke of, or has had in hand since before.
  struct DeliveryLookup {
    AgentName agent;
    std::vector<Key> deliveries;  // ascending
    UnseenChanges::ReadId look = 0;
  };
  void on_late_receipt(AgentState& agent, Key key, const protocol::Receipt& receipt);
  bool upgrade_proof(AgentState& agent, Key key, const protocol::Receipt& receipt);
  void look_up_unsettled(AgentState& agent);
  void on_lookup(const DeliveryLookup& inquiry, Result<std::vector<records::DeadLetter>> letters);
  bool apply_late_receipt(AgentState& agent, records::DeadLetter& letter, const protocol::Receipt& word);
  void reconcile_unsettled(AgentState& agent, const records::DeadLetter& letter);
  /// Tells the session that has it that it is not wanted any more.
  void send_cancel(AgentState& agent, Key key, std::string_view reason);

  // --- steering.cc
  /// A CONTROL that takes several steps.
  struct ControlOperation {
    ConnectionId connection;
    std::string request_id;
    std::string by;  // who asked
    protocol::ControlRequest request;
    std::uint64_t count = 0;
    std::vector<std::string> ids = {};  // of what began anew, the first of them
    Key cursor = {};
    Key end = {};                    // what has a later key came after the command
    UnseenChanges::ReadId look = 0;  // of the question that is open
    /// The agents that it may concern, when it is not the user's: the one that asks and those it started. None: any.
    std::optional<std::vector<std::string>> own = {};
    std::size_t policy_held = 0;  // that a flush left, because the user's policy holds them
  };
  void start_steering(ControlOperation steering);
  void steer_own(ControlOperation steering, const Result<std::vector<Worker>>& workers);
  /// The host of the record has the session of the agent of that name, as far as that is known: another process may have it.
  [[nodiscard]] bool has_session(const Worker& worker);
  [[nodiscard]] std::optional<Rejection> check_control(const ControlOperation& steering, std::string_view action,
                                                       std::initializer_list<std::string_view> concerned);
  void on_control(ConnectionState& connection, const protocol::Envelope& envelope);
  void set_paused(ControlOperation steering, AgentState& agent);
  void set_policy(ControlOperation steering, AgentState& agent);
  void notify_paused(AgentState& agent);
  void ask_held(ControlOperation steering);
  void flushed_page(QueryId id, Result<records::HeldPage> page);
  void flush(ControlOperation steering, Result<records::HeldPage> page);
  void ask_dead(ControlOperation steering);
  void execute_control(ControlOperation steering, Result<std::vector<records::DeadLetter>> letters);
  void execute_on_delivery(ControlOperation steering, records::DeadLetter letter);
  [[nodiscard]] static bool is_kept_by_policy(const ControlOperation& steering, const AgentState& to,
                                              const AgentName& from);
  void redeliver(ControlOperation& steering, const records::DeadLetter& letter);
  void answer_control(const ControlOperation& steering, const std::optional<Rejection>& objection = {});
  void answer_control_when_saved(ControlOperation steering);

  // --- listings.cc
  void on_dead(ConnectionState& connection, const protocol::Envelope& envelope);
  void on_loops(ConnectionState& connection, const protocol::Envelope& envelope);
  void on_channels(ConnectionState& connection, const protocol::Envelope& envelope);
  void list_dead(QueryId id, Result<std::vector<records::DeadLetter>> letters);
  static std::vector<records::DeliveryState> parse_dead_states(const std::vector<std::string>& names);

  // --- channels.cc
  void on_subscribe(ConnectionState& connection, const protocol::Envelope& envelope, bool subscribe);
  void on_topics(ConnectionState& connection, const protocol::Envelope& envelope);
  /// Why not, in one sentence; none when it is so now.
  std::optional<Rejection> set_subscription(AgentState& agent, const std::string& topic, bool subscribe);
  void list_topics(text::JsonWriter& out, const protocol::TopicsRequest& wanted) const;
  void on_channel_change(ConnectionState& connection, const protocol::Envelope& envelope, bool join);
  void on_channel_message(ConnectionState& connection, const protocol::Envelope& envelope, std::size_t frame_bytes);
  bool join_channel(const std::string& channel, const AgentName& member);
  bool leave_channel(const std::string& channel, const AgentName& member);
  void on_shadow_bind(ConnectionState& connection, const protocol::Envelope& envelope);
  void on_shadow_unbind(ConnectionState& connection, const protocol::Envelope& envelope);
  void on_membership_update(SendContext& sending);
  [[nodiscard]] std::optional<Rejection> check_join(const AgentName& member);
  void trigger_shadows(const AgentName& primary, std::string_view trigger);
  void save_session(AgentState& agent);
  void index_session(const AgentState& agent);
  void unindex_session(const AgentState& agent);
  [[nodiscard]] bool hears_channel(const AgentState& agent, std::string_view channel) const;
  [[nodiscard]] std::vector<AgentName> channel_members(const std::string& channel) const;

  // --- voting.cc
  void on_consensus(SendContext& sending);
  void propose(const AgentName& proposer, records::Proposal proposal, std::string_view thread);
  Result<void> vote(const AgentName& voter, const VoteCommand& command);
  void conclude(records::Proposal& proposal, Outcome outcome);
  void proposal_due(const std::string& id);

  // --- queries.cc
  void respond(ConnectionState& connection, protocol::MessageType type, std::string_view request_id,
               std::string_view payload);
  void on_inbox(ConnectionState& connection, const protocol::Envelope& envelope);
  void on_messages_query(ConnectionState& connection, const protocol::Envelope& envelope);
  void on_trace(ConnectionState& connection, const protocol::Envelope& envelope);
  void on_status(ConnectionState& connection, const protocol::Envelope& envelope);
  void on_list_agents(ConnectionState& connection, const protocol::Envelope& envelope, bool connected_only);
  void write_standing(text::JsonWriter& out, const records::TraceEntry& entry);
  [[nodiscard]] std::vector<std::string> paused_agents() const;
  void on_health(ConnectionState& connection, const protocol::Envelope& envelope);
  void on_metrics(ConnectionState& connection, const protocol::Envelope& envelope);
  void on_remove_agent(ConnectionState& connection, const protocol::Envelope& envelope);
  void forget_agent(const std::string& name);
  void on_log(ConnectionState& connection, const protocol::Envelope& envelope);
  void on_session_state(ConnectionState& connection, const protocol::Envelope& envelope);
  struct PendingQuery {
    ConnectionId connection;
    std::string request_id;
    protocol::MessageType answer{};
    bool inbox = false;
    std::string name = {};  // of the agent that runs for others
    std::size_t limit = 0;  // rows wanted, of dead letters
    Release release = {};
    bool newest = false;  // of events
  };
  std::optional<QueryId> ask(ConnectionState& connection, std::string_view request_id, protocol::MessageType answer);
  QueryId add_question(ConnectionState& connection, std::string_view request_id, protocol::MessageType answer);
  std::optional<PendingQuery> take_asked(QueryId id);

  // --- workers.cc
  /// A SPAWN whose agent is being started.
  struct PendingSpawn {
    ConnectionId connection;
    std::string name;
    AgentName from;
    SessionId session;
    bool as_user = false;  // the user gives the task
    std::string task;      // the payload of the message it will become; empty: none
    std::string cli = {};
    std::string words = {};  // of the task
    std::string role = {};
    std::optional<QueryId> approval = {};  // the ANSWER that approved it; it is answered with the outcome
  };
  /// An agent that runs for another and has not said HELLO yet: `agent.spawned` names its session.
  struct Spawned {
    events::AgentSpawned event;
    SteadyTime at{};
  };
  void record_spawned(const std::string& name, events::AgentSpawned event);
  void record_if_spawned(const AgentState& agent);
  void on_spawn(ConnectionState& connection, const protocol::Envelope& envelope);
  /// A SPAWN of an agent that a person is asked about.
  struct SpawnApproval {
    ConnectionId connection;
    AgentName asker;
    std::string request_id;   // of the SPAWN
    std::string claim_token;  // that came with it
    protocol::SpawnRequest wanted;
  };
  /// Is this SPAWN an agent's? Else it is the user's, or of a program of the user's.
  [[nodiscard]] bool is_spawn_by_agent(const ConnectionState& connection);
  /// That agent, when it has a session.
  [[nodiscard]] AgentState* spawning_agent(const ConnectionState& connection, const protocol::SpawnRequest& wanted);
  enum class SpawnPlace : std::uint8_t { Anywhere, InsideProject };
  void start_worker(ConnectionState& connection, const protocol::Envelope& envelope, protocol::SpawnRequest wanted,
                    SpawnPlace place = SpawnPlace::Anywhere, std::optional<QueryId> approval = {});
  [[nodiscard]] static Rejection not_started(std::string_view name, const Rejection& reason);
  /// Answers the ANSWER that decided a spawn. Without an id a rule decided, and no connection expects a response.
  void notify_approver(std::optional<QueryId> approval, const std::optional<Rejection>& objection);
  void ask_about_spawn(AgentState& asker, const ConnectionState& connection, const protocol::Envelope& envelope,
                       protocol::SpawnRequest wanted);
  void decide_spawn(AgentState& asker, OpenPrompt& open, const PromptAnswer& reply, const std::string& by,
                    std::optional<QueryId> asked);
  void refuse_pending_spawn(const std::string& request);
  void drop_pending_spawns(ConnectionId connection);
  void on_release(ConnectionState& connection, const protocol::Envelope& envelope);
  void on_send_input(ConnectionState& connection, const protocol::Envelope& envelope);
  void on_list_workers(ConnectionState& connection, const protocol::Envelope& envelope);
  void on_set_model(ConnectionState& connection, const protocol::Envelope& envelope);
  [[nodiscard]] std::optional<Rejection> check_spawn(const ConnectionState& connection,
                                                     const protocol::SpawnRequest& wanted, const PendingSpawn& starting,
                                                     std::string_view claim_token);
  [[nodiscard]] bool is_starting(std::string_view name) const;
  std::optional<QueryId> ask_host(ConnectionState& connection, const protocol::Envelope& envelope,
                                  protocol::MessageType answer, std::string_view name);
  void refuse_worker(ConnectionState& connection, const protocol::Envelope& envelope, protocol::MessageType answer,
                     std::string_view name, const Rejection& objection);
  void notify_worker(const PendingQuery& asked, const Result<void>& outcome);
  /// A RELEASE whose agent has ended; it is answered when its session has left as well.
  struct PendingRelease {
    QueryId id;
    SteadyTime due;  // not later than this
  };
  void notify_released(const std::string& name, SteadyTime due_by);
  void record_release(const AgentName& name, const SessionId& session, const Release& release);
  /// The short id of the message.
  std::string post_task(PendingSpawn& started);

  // --- asking.cc
  /// An answer that is on its way to an agent.
  struct PendingAnswer {
    AgentName agent;
    std::string request;
    std::string by;
    std::optional<QueryId> asked = {};  // who wants to know; none: a rule answers
  };
  void on_prompts(ConnectionState& connection, const protocol::Envelope& envelope);
  void on_answer(ConnectionState& connection, const protocol::Envelope& envelope);
  [[nodiscard]] std::optional<Rejection> check_answer(const ConnectionState& connection,
                                                      const protocol::AnswerRequest& answer);
  void notify_answered(ConnectionState& connection, std::string_view request_id,
                       const std::optional<Rejection>& objection);
  void take_request(AgentState& agent, OpenPrompt request, Occurrence told);
  void open_request(const AgentName& name, const SessionId& session, OpenPrompt request, Occurrence told);
  void end_request_when_saved(AgentState& agent, std::string request);
  void end_requests(AgentState& agent);
  void withdraw(const OpenPrompt& request, const AgentName& agent, const SessionId& session,
                std::string_view reason = "its session has ended");
  [[nodiscard]] permissions::Decision evaluate_rules(const AgentState& agent,
                                                     const events::PermissionRequested& asked) const;
  void apply_rule(AgentState& agent, OpenPrompt& open);
  void reply_to(AgentState& agent, OpenPrompt& open, PromptAnswer reply, std::string by,
                std::optional<QueryId> asked = {});
  void notify_user(const AgentState& agent, OpenPrompt& open);
  void arm_expiry_of(AgentState& agent, const OpenPrompt& open);
  void requests_due(AgentState& agent, SteadyTime due);

  // --- watching.cc
  void on_events_subscribe(ConnectionState& connection, const protocol::Envelope& envelope);
  void on_events_unsubscribe(ConnectionState& connection);
  void send_next_page(ConnectionState& connection);
  void notify_subscribers();
  void send_log(const std::string& event);
  void on_events_query(ConnectionState& connection, const protocol::Envelope& envelope);
  void answer_events(ConnectionState& connection, const PendingQuery& asked, const Result<records::EventPage>& page);
  void on_usage_query(ConnectionState& connection, const protocol::Envelope& envelope);
  void on_session_query(ConnectionState& connection, const protocol::Envelope& envelope);

  // --- happenings.cc
  [[nodiscard]] records::AddEvent event_row(const events::Event& event, const AgentName& agent,
                                            const SessionId& session) const;
  void record_event(const events::Event& event, const AgentName& agent, const SessionId& session);
  void record_event(const events::Event& event, const AgentState& agent);
  static events::AgentStatus activity_event(const protocol::SessionStateChange& told);
  void record_session_start(const AgentState& agent, const protocol::Hello& hello);
  [[nodiscard]] records::AddEvent session_end(const AgentState& agent, const Ending& ending) const;
  void on_agent_event(ConnectionState& connection, const protocol::Envelope& envelope);
  void answer_event_when_saved(ConnectionState& connection, std::string_view id, Occurrence told, std::string refusal);
  /// Over: the agent is gone, and a request of it is not opened any more.
  enum class Asking : std::uint8_t { Open, Over };
  Result<void> accept_event(AgentState& agent, const protocol::Envelope& envelope, Asking asking = Asking::Open);
  /// What the host of an ended session could not tell. Each event is stored once.
  void take_untold_events(AgentState& agent, const std::vector<protocol::EndedSession::UnackedEvent>& events);
  void on_repeated_event(ConnectionState& connection, AgentState& agent, const protocol::Envelope& envelope);
  void charge_event(ConnectionState& connection, const protocol::Envelope& envelope);
  [[nodiscard]] records::UsageRow usage_of(const events::TokensUsed& tokens, const AgentState& agent,
                                           std::string_view id) const;

  BrokerLimits limits_;
  ServerInfo info_;
  Random& random_;
  Timestamp now_;
  SteadyTime started_;
  std::string store_id_;
  Key newest_;
  records::EventSeq newest_event_;   // known to be committed
  bool counts_changed_ = false;      // of some agent, since the roster was last said to have changed
  std::string_view answering_ = {};  // the id of the frame that is being handled, while it is

  Effects effects_;
  Timers timers_;
  bool finding_ended_ = false;                // records of ended sessions were asked for
  std::vector<std::string> grace_over_;       // agents whose session ends unless a record says otherwise
  std::vector<ConnectionId> awaiting_ended_;  // their HELLO waits for these records

  records::Changes changes_;  // being gathered for the next commit
  records::CommitTicket next_ticket_{1};
  VectorQueue<Pending, 1'024> pending_;
  std::size_t uncommitted_total_ = 0;
  ActiveSenders speakers_;
  std::size_t saved_bytes_ = 0;  // ever handed to save_eventually; its growth is charged to the sender
  std::size_t membership_count_ = 0;
  std::set<ConnectionId> paused_uncommitted_;
  bool released_ = false;  // something that was uncommitted, since those were looked at
  std::vector<PendingWork>
      unsaved_;  // nobody asks for it again, and its commit failed; with what waits for that, in order
  StoreHealth store_ = StoreHealth::Healthy;
  bool damaged_at_work_ = false;
  std::string store_error_;  // why the last commit failed; empty: it succeeded
  bool shutting_down_ = false;

  std::unordered_map<std::uint64_t, ConnectionState> connections_;
  /// Found by views of names, without a copy.
  struct NameHash {
    using is_transparent = void;
    std::size_t operator()(std::string_view name) const { return std::hash<std::string_view>{}(name); }
  };
  std::unordered_map<std::string, AgentState, NameHash, std::equal_to<>> agents_;
  ConfusableNames confusable_names_;   // of agents_
  std::size_t description_bytes_ = 0;  // of agents_
  SteadyTime next_room_search_{};      // for a name to forget, after one that found none
  Streams streams_;

  // Who listens where. Names are kept, not pointers.
  std::map<std::string, std::set<AgentName>> topics_;
  std::map<std::string, std::set<AgentName>> channels_;  // by lower-case channel name
  std::map<AgentName, std::set<AgentName>> shadows_;     // primary → its shadows
  std::map<std::string, records::Proposal> proposals_;   // the open ones
  struct PendingSync {
    ConnectionId asker;
    std::string message;  // the id of the SEND, so that sending it again is no second question
    std::string to;       // who may answer; empty when anybody may
    SteadyTime due{};
    std::string from;    // who asks
    std::string thread;  // may be empty
    Key key{};           // of the message
    bool given = false;  // the asked agent has it
    Key answer{};        // of the plain message that is taken as its answer, until that is committed
  };
  using Syncs = std::map<std::string, PendingSync>;
  void end_sync(Syncs::iterator sync);
  Syncs syncs_;                                         // by correlation id
  std::multimap<std::string, std::string> syncs_with_;  // who was asked → correlation id
  std::map<Key, AwaitedReceipts> receipts_;             // by message
  std::set<ConnectionId> watchers_;
  std::map<QueryId, PendingQuery> asked_;
  std::map<QueryId, PendingSpawn> starting_;
  std::map<std::string, Spawned> spawned_;              // by name; at most kMaxSpawned
  std::multimap<std::string, PendingRelease> leaving_;  // by name
  std::uint64_t next_query_ = 1;
  WallMs next_expiry_ = 0;  // earliest expires_at known; 0 when none
  std::optional<SteadyTime> expiry_due_;
  std::optional<UnseenChanges::ReadId> expiring_;  // the store is looking right now
  WallMs next_due_ = 0;                            // earliest available_at known; 0 when none
  std::optional<UnseenChanges::ReadId> asking_due_;
  QueryId due_query_{};
  std::map<QueryId, ControlOperation> steerings_;
  std::map<QueryId, DeliveryLookup> inquiries_;
  std::map<QueryId, UnsupportedScan> unable_;
  LoopBreaker loops_;
  UnseenChanges unseen_;
  std::multimap<AgentName, UnseenChanges::ReadId> page_looks_;  // whose mail is being read
  std::shared_ptr<const permissions::Policy> policy_;
  std::shared_ptr<const SpawnPolicy> spawn_policy_ = std::make_shared<const SpawnPolicy>();
  std::map<std::string, SpawnApproval> pending_spawns_;  // by request id; each is an open request too
  std::uint64_t last_spawn_request_ = 0;
  std::map<QueryId, PendingAnswer> replying_;
};

}  // namespace relay::broker
