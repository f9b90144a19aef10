#include "cli/chat.h"

#include <signal.h>
#include <unistd.h>

#include "base/directory.h"
#include "base/format.h"
#include "base/hash.h"
#include "base/json.h"
#include "cli/line_input.h"
#include "cli/times.h"
#include "cli/workspace.h"
#include "client/link.h"
#include "net/signals.h"
#include "net/unix_network.h"
#include "protocol/json_writer.h"

namespace relay::cli {
namespace {

/// Lines after the first carry a mark, so that no body can pass for somebody else's line.
std::string with_margin(const std::string& text) {
  std::string marked;
  for (const char c : text) {
    marked += c;
    if (c == '\n') marked += "          | ";
  }
  return marked;
}

constexpr std::size_t kMaxUnanswered = 1'000;

/// A file name from any agent name: readable where possible, unique always.
std::string outbox_file(const std::string& name) {
  std::string file;
  for (const char c : name.substr(0, 40))
    file += std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '_' ? c : '_';
  return relay::format("{}-{}.outbox", file, sha256_hex(name).substr(0, 8));
}

class Chat final : public client::LinkListener, public LineListener {
 public:
  Chat(const ChatOptions& options, const Context& context, client::Outbox& outbox)
      : options_{options}, context_{context}, to_{options.to}, outbox_{outbox} {}

  ExitCode run() {
    client::LinkOptions link;
    link.socket_path = config::socket_to_connect(context_.project.socket);
    link.hello.agent = options_.name;
    link.hello.cli = "chat";
    link.hello.program = "agent-relay";
    link.hello.capabilities.resume = true;
    link.hello.working_directory = context_.project.root;
    link_ = std::make_unique<client::Link>(loop_, network_, random_, outbox_, std::move(link), *this);
    net::Signals signals{loop_, {SIGINT, SIGTERM}, [this](int) { finish(); }};
    link_->start();
    if (!options_.listen_only) input_ = std::make_unique<LineInput>(loop_, STDIN_FILENO, *this);
    loop_.run();
    input_.reset();
    return code_;
  }

 private:
  // What is typed.
  void on_line(std::string_view line) override {
    auto addressed = split_address(line);
    if (!addressed.to.empty()) to_ = addressed.to;
    if (addressed.text.empty()) return;
    if (addressed.text == "/quit") return on_input_ended();
    if (to_.empty()) {
      complain("say to whom: @NAME your words", ExitCode::No);
      return;
    }
    protocol::JsonWriter payload;
    payload.field("kind", "message").field("body", addressed.text);
    const auto sent = link_->send({.to = to_, .payload = payload.take()});
    if (!sent) complain(sent.error().message(), ExitCode::No);
    if (outbox_.size() >= kMaxUnanswered && input_) input_->pause();
  }

  void on_line_too_long() override {
    complain(relay::format("a line was longer than {} bytes and was not sent", kMaxLineBytes), ExitCode::No);
  }

  void on_input_ended() override {
    input_ended_ = true;
    finish_if_done();
  }

  // What the daemon says.
  void on_ready(const client::Session&) override {
    if (std::exchange(was_lost_, false)) complain("the daemon is back", ExitCode::Yes);
  }

  void on_lost(const std::string& reason, Millis) override {
    if (!std::exchange(was_lost_, true)) complain(relay::format("{}; trying again", reason), ExitCode::No);
  }

  void on_stopped(const Error& why) override {
    code_ = is(why, client::Errc::NoDaemon)  ? ExitCode::NoDaemon
            : is(why, client::Errc::Refused) ? ExitCode::Refused
                                             : ExitCode::No;
    complain(why.message(), code_);
    loop_.stop();
  }

  client::Taken on_incoming(const client::Incoming& incoming) override {
    if (options_.count > 0 && ++arrived_ > options_.count) return client::Taken::Later;  // it comes again next time
    show(incoming);
    if (arrived_ == options_.count && options_.count > 0) loop_.post([this] { finish(); });
    return client::Taken::Now;
  }

  void on_sent(const std::string&) override {
    if (input_ && outbox_.size() < kMaxUnanswered / 2) input_->resume();
    finish_if_done();
  }

  void on_refused(const std::string&, const protocol::NackView& why) override {
    complain(why.message.empty() ? why.code : why.message, ExitCode::Refused);
    code_ = ExitCode::Refused;
    finish_if_done();
  }

  void on_frame(const protocol::Envelope& envelope) override {
    if (envelope.type != protocol::MessageType::Error) return;
    if (const auto error = protocol::parse_error(envelope.payload)) complain(error->message, ExitCode::No);
  }

  void show(const client::Incoming& incoming) {
    const auto& envelope = incoming.envelope;
    const auto view = protocol::parse_send(envelope.payload);
    const auto body = view && !view->body.empty() ? protocol::decode_string(view->body) : std::string{};
    if (options_.json) {
      protocol::JsonWriter line;
      line.field("id", incoming.delivery.message_id).field("from", envelope.from).field("to", envelope.to);
      line.optional("topic", envelope.topic)
          .field("body", body)
          .field("seq", incoming.delivery.seq)
          .field("timestamp", envelope.ts);
      return print(line.take() + "\n");
    }
    const auto to_all = incoming.delivery.original_to.empty()
                            ? ""
                            : relay::format(" (to {})", sanitised(incoming.delivery.original_to, Lines::Join));
    print(relay::format("{}  {}{}: {}\n", context_.paint(Colour::Dim, short_time(envelope.ts, context_.now())),
                        context_.paint.name(sanitised(envelope.from, Lines::Join)), to_all,
                        with_margin(sanitised(body, Lines::Keep))));
  }

  void finish_if_done() {
    if (input_ended_ && link_->all_answered()) loop_.post([this] { finish(); });
  }

  void finish() {
    link_->stop();  // what waits (acknowledgements, BYE) is still flushed
    input_.reset();
    loop_.post([this] { loop_.stop(); });
  }

  const ChatOptions& options_;
  const Context& context_;
  std::string to_;
  client::Outbox& outbox_;
  SystemRandom random_;
  net::AsioLoop loop_;
  net::UnixNetwork network_{loop_};
  std::unique_ptr<client::Link> link_;
  std::unique_ptr<LineInput> input_;
  ExitCode code_ = ExitCode::Yes;
  std::int64_t arrived_ = 0;
  bool was_lost_ = false;
  bool input_ended_ = false;
};

}  // namespace

Addressed split_address(std::string_view line) {
  if (!line.starts_with('@')) return {"", std::string{line}};
  const auto blank = line.find(' ');
  const auto name = line.substr(1, blank == std::string_view::npos ? blank : blank - 1);
  const auto text = blank == std::string_view::npos ? std::string_view{} : line.substr(blank + 1);
  return {std::string{name}, std::string{text}};
}

ExitCode run_chat(const ChatOptions& options, const Context& context) {
  if (const auto reached = reach_workspace(context); !reached) return complain(reached.error());
  RELAY_CLI_TRY(config::make_private_directory(context.project.outboxes));
  const auto directory = RELAY_CLI_TRY(DiskDirectory::open(context.project.outboxes));
  SystemRandom random;
  const auto outbox = RELAY_CLI_TRY(
      client::Outbox::open(*directory, outbox_file(options.name), {}, client::SyncOn::Transmission, random));
  if (outbox->recovery().entries > 0)
    complain(relay::format("{} unsent from the last time are sent first", outbox->recovery().entries), ExitCode::Yes);
  return Chat{options, context, *outbox}.run();
}

}  // namespace relay::cli
