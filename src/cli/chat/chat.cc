#include "cli/chat/chat.h"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <map>

#include "base/directory.h"
#include "base/format.h"
#include "base/json.h"
#include "cli/chat/chat_line.h"
#include "cli/chat/chat_recipient.h"
#include "cli/chat/line_input.h"
#include "cli/chat/line_terminal.h"
#include "cli/framework/completion_names.h"
#include "cli/render/times.h"
#include "cli/wire/named_outbox.h"
#include "cli/wire/workspace.h"
#include "client/link.h"
#include "commands/injected_message.h"
#include "config/system_token.h"
#include "net/signals.h"
#include "net/unix_network.h"
#include "protocol/bye.h"
#include "protocol/contract.h"
#include "protocol/outgoing_send.h"
#include "text/json_writer.h"
#include "text/utf8.h"

namespace relay::cli {
namespace {

constexpr std::size_t kMaxUnanswered = 1'000;
constexpr std::size_t kMaxQuestions = 256;  // open questions of other agents
constexpr std::string_view kHelp =
    "`@Bob hello` sends hello to Bob, as do the lines after it, and answers a question of Bob; `@* hello` sends it to "
    "every "
    "agent; a line without @ goes to the name before it; Tab completes names, Up and Ctrl-R find earlier lines; /quit "
    "leaves";

/// A message for programs.
std::string chat_object(const protocol::RelayMessage& message, const client::IncomingMessage& incoming,
                        bool answer_expected) {
  const auto& envelope = incoming.envelope;
  text::JsonWriter line;
  line.field("id", incoming.delivery.message_id).field("from", envelope.from).field("to", envelope.to);
  line.optional("topic", envelope.topic)
      .optional("thread", message.thread)
      .field("body", message.text)
      .field("seq", incoming.delivery.seq)
      .field("timestamp", envelope.ts);
  if (answer_expected) line.field("answerExpected", true);
  if (!message.attachments.empty()) {
    line.begin_array("attachments");
    for (const auto& file : message.attachments) line.raw_element(file.object);
    line.end();
  }
  return line.take();
}

/// The prompt takes at most this fraction of the terminal's width.
constexpr std::size_t kMaxPromptFraction = 3;

class Chat final : public client::LinkListener, public LineListener, public LineTerminalListener {
 public:
  Chat(const ChatOptions& options, const Context& context, client::Outbox& outbox)
      : options_{options},
        context_{context},
        interactive_{!options.listen_only && ::isatty(STDIN_FILENO) == 1},
        recipient_{options.to},
        outbox_{outbox} {}

  ExitCode run() {
    client::LinkOptions link;
    link.socket_path = config::socket_to_connect(context_.project.socket);
    link.hello.agent = options_.name;
    // The user types here, under any name. Inside an agent the daemon detects the origin and ignores the token.
    link.hello.system_token = config::read_system_token(context_.home);
    link.hello.cli = "chat";
    link.hello.program = "agent-relay";
    link.hello.capabilities.resume = true;
    link.hello.working_directory = context_.project.root;
    if (interactive_) link.timeout = client::RetryLimit::never_give_up();  // the user decides when to leave
    link_ = std::make_unique<client::Link>(loop_, network_, random_, outbox_, std::move(link), *this);
    net::Signals signals{loop_, {SIGINT, SIGTERM}, [this](int) { finish(); }};
    link_->start();
    if (!options_.listen_only) open_input();
    loop_.run();
    close_input();
    return code_;
  }

 private:
  /// A capable terminal gets a line editor; other input is read line by line.
  void open_input() {
    if (interactive_ && context_.to_terminal && context_.environment("TERM") != "dumb")
      if (auto terminal = LineTerminal::open(loop_, *this)) terminal_ = std::move(*terminal);
    if (!terminal_) input_ = std::make_unique<LineInput>(loop_, STDIN_FILENO, *this);
  }

  void close_input() {
    input_.reset();
    terminal_.reset();
  }

  // The line editor.
  void on_entered(std::string_view line) override { on_line(line); }
  void on_emptied() override { recipient_.on_line_end(); }
  void on_end_of_input() override { on_input_ended(); }
  void on_leave() override {
    loop_.post([this] { finish(); });
  }

  LineView::Prompt prompt() override {
    const auto name = truncate(sanitize(recipient_.name(), Lines::Join), context_.columns / kMaxPromptFraction);
    return {name + "> ", (name.empty() ? name : context_.paint.name(name)) + "> "};
  }

  void on_complete(std::string_view before_cursor) override {
    const auto blank = before_cursor.find_last_of(" \t\n");
    const auto word = before_cursor.substr(blank == std::string_view::npos ? 0 : blank + 1);
    const std::string before{before_cursor};
    if (word.size() == before.size() && word.starts_with('/'))
      return terminal_->complete(before, word.size() - 1, {"help", "quit"}, "");
    if (!word.starts_with('@')) return terminal_->complete(before, 0, {}, "");
    complete_name(before, word.size() - 1);
  }

  void complete_name(const std::string& before, std::size_t length) {
    using protocol::MessageType;
    link_->request(MessageType::ListAgents, R"({"includeIdle":true})",
                   [this, before, length](Result<const protocol::Envelope*> agents) {
                     auto names = names_in_answer(agents, "agents");
                     std::erase(names, options_.name);
                     link_->request(MessageType::Channels, "{}",
                                    [this, before, length, names = std::move(names)](auto channels) mutable {
                                      for (auto& name : names_in_answer(channels, "channels"))
                                        names.push_back(std::move(name));
                                      if (terminal_) terminal_->complete(before, length, names, " ");
                                    });
                   });
  }

  static std::vector<std::string> names_in_answer(const Result<const protocol::Envelope*>& answer,
                                                  std::string_view list) {
    if (!answer) return {};
    const auto parsed = parse_json_object((*answer)->payload);
    return parsed ? names_in(*parsed, list) : std::vector<std::string>{};
  }

  // Typed lines.
  void on_line(std::string_view line) override {
    if (input_ended_) return;              // after a /quit
    if (interactive_) link_->retry_now();  // the user should not wait for the back-off
    line = without_leading_controls(line);
    if (!text::is_utf8(line))
      return set_exit_code(report_error(
          "the line is not UTF-8 and was not sent; convert it first, for example with iconv", ExitCode::Usage));
    if (const auto word = parse_chat_command(line)) return run_command(*word);
    auto addressed = split_address(line);
    if (line.starts_with('@') && addressed.to.empty())
      return set_exit_code(report_error("no recipient; write: @NAME TEXT", ExitCode::Usage));
    if (!addressed.to.empty()) recipient_.choose(addressed.to);
    if (addressed.text.empty()) return;
    if (recipient_.name().empty())
      return set_exit_code(report_error("no recipient; write: @NAME TEXT", ExitCode::Usage));
    send(addressed.text);
    if (outbox_.size() >= kMaxUnanswered) pause_input();
  }

  void pause_input() {
    if (input_) input_->pause();
    if (terminal_) terminal_->pause();
  }

  void resume_input() {
    if (input_) input_->resume();
    if (terminal_) terminal_->resume();
  }

  /// The first line to an agent that waits for an answer is that answer.
  void send(const std::string& text) {
    const auto question = questions_.extract(recipient_.name());
    protocol::OutgoingSend message{.to = recipient_.name(), .body = text};
    if (question) {
      message.thread = question.mapped().thread;
      message.meta.reply_to = question.mapped().id;
    }
    const auto encoded = client::encode_message(message);
    if (!encoded) return set_exit_code(report_error(encoded.error()));
    const auto sent = link_->send(*encoded);
    if (!sent) return set_exit_code(report_error(sent.error()));
    if (terminal_) recipient_.on_sent(*sent);
  }

  void run_command(std::string_view word) {
    if (word == "quit") return on_input_ended();
    if (word == "help") return print_notice(kHelp);
    set_exit_code(report_error(relay::format("unknown command /{}; there are /help and /quit", word), ExitCode::Usage));
  }

  void on_line_too_long(std::string_view, std::string_view) override {
    const auto too_large = fail(
        Errc::TooLarge,
        relay::format("a line longer than {} bytes was not sent; send it as a file with: agent-relay send --attach",
                      kMaxLineBytes));
    set_exit_code(report_error(too_large.error()));
  }

  void on_input_ended() override {
    input_ended_ = true;
    if (interactive_ && was_lost_ && !link_->is_drained())
      print_notice("your last messages wait for the daemon; Ctrl-C leaves now, and they are sent next time");
    finish_if_done();
  }

  // From the daemon.
  void on_ready(const client::Session&) override {
    if (std::exchange(was_lost_, false))
      print_notice(was_closed_ ? "the workspace is open again" : "reconnected to the daemon");
    if (interactive_ && !std::exchange(greeted_, true))
      print_notice(relay::format("you are {}{}; send a message with `@{} hello`; /help shows more, /quit leaves",
                                 options_.name, recipient_.name().empty() ? "" : ", writing to " + recipient_.name(),
                                 options_.name == "Bob" ? "Alice" : "Bob"));
  }

  void on_lost(const std::string& reason, Millis) override {
    if (!was_lost_) was_closed_ = reason == protocol::kWorkspaceClosed;
    if (std::exchange(was_lost_, true)) return;
    // The low-level reason (closed, reset) is of no use to the user.
    const bool announced = was_closed_ || reason == protocol::kDaemonStopping;
    const std::string_view what = announced ? std::string_view{reason} : "lost the connection to the daemon";
    if (!interactive_) return print_notice(relay::format("{}; reconnecting", what));
    print_notice(relay::format("{}; your messages are stored and sent when {}; {} it with: agent-relay up", what,
                               was_closed_ ? "it is open again" : "the daemon is running",
                               was_closed_ ? "open" : "start"));
  }

  void on_stopped(const Error& error) override {
    code_ = report_error(error);
    loop_.stop();
  }

  client::AckMode on_incoming(const client::IncomingMessage& incoming) override {
    if (options_.count > 0 && ++arrived_ > options_.count)
      return client::AckMode::Later;  // it is redelivered next time
    show(incoming);
    if (arrived_ == options_.count && options_.count > 0) loop_.post([this] { finish(); });
    return client::AckMode::Now;
  }

  void on_sent(const std::string& id) override {
    recipient_.on_answered(id);
    if (outbox_.size() < kMaxUnanswered / 2) resume_input();
    finish_if_done();
  }

  void on_refused(const std::string& id, const protocol::Nack& why) override {
    if (why.code == protocol::name_of(protocol::NackCode::UnknownRecipient))
      recipient_.on_unknown_recipient(id, terminal_ && !terminal_->empty());
    recipient_.on_answered(id);
    set_exit_code(report_error(why));
    finish_if_done();
  }

  void on_frame(const protocol::Envelope& envelope) override {
    if (envelope.type != protocol::MessageType::Error) return;
    if (const auto error = protocol::parse_error(envelope.payload)) print_notice(error->message);
  }

  void show(const client::IncomingMessage& incoming) {
    const auto& envelope = incoming.envelope;
    const auto message = protocol::message_from(
        {.id = incoming.delivery.message_id, .from = envelope.from, .to = envelope.to, .payload = envelope.payload});
    const auto meta = protocol::parse_send_meta(envelope.payload_meta);
    const bool answer_expected = meta && meta->sync && meta->sync->blocking;
    if (terminal_ && incoming.delivery.original_to.empty() && envelope.type == protocol::MessageType::Deliver)
      recipient_.on_message_from(std::string{envelope.from}, !terminal_->empty());
    if (options_.json) return print(chat_object(message, incoming, answer_expected) + "\n");
    const auto to_all = incoming.delivery.original_to.empty()
                            ? ""
                            : relay::format(" (to {})", sanitize(incoming.delivery.original_to, Lines::Join));
    const auto line =
        relay::format("{}  {}{}: {}\n", context_.paint(Color::Dim, short_time(envelope.ts, context_.now())),
                      context_.paint.name(sanitize(envelope.from, Lines::Join)), to_all,
                      with_margin(sanitize(message.text, Lines::Keep)));
    print(fold(line, terminal_columns(STDOUT_FILENO), kMarginColumns));
    for (const auto& file : message.attachments) {
      const auto bytes = static_cast<std::uint64_t>(std::max<std::int64_t>(file.bytes, 0));
      const auto attached = commands::attached_line({.name = file.name, .path = file.path, .bytes = bytes});
      print(with_margin("\n" + sanitize(attached, Lines::Join)).substr(1) + "\n");
    }
    if (answer_expected) expect_answer(message);
  }

  void expect_answer(const protocol::RelayMessage& message) {
    const auto& from = message.from.name;
    if (questions_.size() >= kMaxQuestions && !questions_.contains(from)) return;
    questions_.insert_or_assign(from, Question{message.id, message.thread});
    if (!options_.listen_only)
      print_notice(relay::format("{} waits for an answer; reply with: @{} TEXT", from, from));
    else
      print_notice(relay::format("{} waits for an answer; reply with: agent-relay send {} TEXT --from {} --reply-to {}",
                                 from, from, options_.name, message.id));
  }

  /// On a terminal the user has seen the error; a script gets it as the exit code.
  void set_exit_code(ExitCode code) {
    if (!interactive_) code_ = code;
  }

  void finish_if_done() {
    if (input_ended_ && link_->is_drained()) loop_.post([this] { finish(); });
  }

  void finish() {
    link_->stop();  // flushes pending ACKs and BYE
    close_input();
    loop_.post([this] { loop_.stop(); });
  }

  struct Question {
    std::string id, thread;
  };

  const ChatOptions& options_;
  const Context& context_;
  bool interactive_;  // the user types
  ChatRecipient recipient_;
  client::Outbox& outbox_;
  SystemRandom random_;
  net::AsioLoop loop_;
  net::UnixNetwork network_{loop_};
  std::unique_ptr<client::Link> link_;
  std::unique_ptr<LineInput> input_;
  std::unique_ptr<LineTerminal> terminal_;  // instead of input_ on a terminal
  ExitCode code_ = ExitCode::Ok;
  std::map<std::string, Question> questions_;  // by agent: the newest of each
  std::int64_t arrived_ = 0;
  bool was_lost_ = false;
  bool was_closed_ = false;  // by `down`, when it was lost
  bool greeted_ = false;
  bool input_ended_ = false;
};

}  // namespace

ExitCode run_chat(const ChatOptions& options, const Context& context) {
  if (const auto reached = connect_workspace(context); !reached) return report_error(reached.error());
  const auto own = RELAY_CLI_TRY(open_named_outbox(context, options.name));
  const auto& outbox = own.outbox;
  if (const auto unsent = outbox->recovery().entries; unsent > 0)
    print_notice(relay::format("sending {} from the last session first",
                               unsent == 1 ? "1 message" : relay::format("{} messages", unsent)));
  return Chat{options, context, *outbox}.run();
}

}  // namespace relay::cli
