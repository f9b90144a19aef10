#include "observer/observed_inbox.h"

#include <filesystem>

#include "base/log.h"

namespace relay::observer {
namespace {

namespace fs = std::filesystem;
using protocol::DeliveryMode;

constexpr std::size_t kMaxBundleBytes = 16 * 1024;

}  // namespace

std::string claude_config_of(std::string_view transcript) {
  const auto projects =
      fs::path{transcript}.parent_path().parent_path();  // <config>/projects/<project>/<session>.jsonl
  return projects.filename() == "projects" ? projects.parent_path().string() : std::string{};
}

ObservedInbox::ObservedInbox(net::AsioLoop& loop, client::Link& link, Directory& state_directory, std::string file,
                             std::string session, std::function<void()> on_failed)
    : loop_{loop},
      link_{link},
      session_{std::move(session)},
      on_failed_{std::move(on_failed)},
      pipeline_{
          {.state_directory = state_directory, .intent_file = std::move(file), .project_root = {}, .long_texts = {}},
          rules_,
          {.native = this, .composer = *this, .reports = *this, .request_update = [this] { update_soon(); }}} {
  if (const auto opened = pipeline_.open(); !opened)
    log::warn("cannot read the intent log of an observed agent", {{"error", opened.error().message()}});
}

ObservedInbox::~ObservedInbox() = default;

bool ObservedInbox::find(const std::string& config_directory, pid_t agent) {
  if (config_directory.empty() || agent <= 1) return false;
  if (!inbox_ || config_directory != config_ || agent != agent_) {
    config_ = config_directory;
    agent_ = agent;
    inbox_ = std::make_unique<adapters::ClaudeInbox>(loop_, config_, agent_);
  }
  const bool open = inbox_->exists(session_);
  const bool changed = std::exchange(open_, open) != open;
  if (changed) update_soon();
  return changed;
}

void ObservedInbox::set_state(profiles::State state) {
  if (std::exchange(state_, state) != state) since_ = loop_.now().steady;
  update_soon();
}

void ObservedInbox::on_connected() { pipeline_.on_connected(loop_.now().steady); }

void ObservedInbox::on_incoming(const client::IncomingMessage& incoming) {
  (void)pipeline_.receive(incoming, loop_.now().wall);
  update_soon();
}

void ObservedInbox::on_moved(const client::DeliveryRef& ref, DeliveryMode mode) {
  pipeline_.move(ref, mode);
  update_soon();
}

bool ObservedInbox::on_cancel(const protocol::CancelCommand& command) {
  update_soon();
  return pipeline_.cancel(command.delivery_id);
}

void ObservedInbox::on_pause(const protocol::PauseCommand& command) {
  pipeline_.pause(command);
  update_soon();
}

void ObservedInbox::on_model_input(std::string_view text, std::string_view id) {
  pipeline_.on_model_input(text, adapters::via::kTranscript, id);
}

void ObservedInbox::on_agent_exit() {
  pipeline_.on_agent_exit();
  timer_ = nullptr;
  open_ = false;
  lifetime_.end();
}

adapters::NativeCapabilities ObservedInbox::capabilities() const {
  adapters::NativeCapabilities can{
      .output = adapters::via::kTranscript, .state = adapters::via::kHook, .terminal = false};
  if (open_)
    can.by(DeliveryMode::OnIdle) = {.timing = adapters::DeliveryTiming::WhenIdle,
                                    .via = adapters::via::kInbox,
                                    .not_before = inbox_->ready_at(),
                                    .max_bundle_bytes = inbox_->is_running_low() ? kMaxBundleBytes : 0};
  return can;
}

void ObservedInbox::update() {
  const auto now = loop_.now();
  const auto due = pipeline_.deliver({.now = now.steady,
                                      .wall = now.wall,
                                      .state = state_,
                                      .screen = state_,
                                      .since = since_,
                                      .can = capabilities(),
                                      .typed_into = false});
  timer_ = due ? loop_.at(*due, [this] { update(); }) : nullptr;
}

void ObservedInbox::update_soon() {
  loop_.post([this, alive = lifetime_.watch()] {
    if (alive) update();
  });
}

void ObservedInbox::deliver(const adapters::NativeDelivery& delivery, OnAccepted done) {
  inbox_->put(delivery, session_,
              [this, alive = lifetime_.watch(), done = std::move(done)](Result<void> outcome) mutable {
                if (!alive) return;
                const bool failed = !outcome && std::exchange(open_, false);
                done(std::move(outcome));
                if (failed) on_failed_();
                update_soon();
              });
}

void ObservedInbox::report(const client::DeliveryRef& ref, protocol::Receipt receipt) {
  link_.report(ref, std::move(receipt));
}

}  // namespace relay::observer
