#include "daemon/notifier.h"

#include <sstream>

#include "base/format.h"
#include "base/log.h"
#include "daemon/host_environment.h"
#include "text/utf8.h"

namespace relay::daemon {
namespace {

constexpr std::size_t kMaxValueBytes = 4096;

/// Without zero bytes, which an environment cannot hold.
std::string variable_value(std::string_view text) {
  std::string value{text::truncate_utf8(text, kMaxValueBytes)};
  std::erase(value, '\0');
  return value;
}

}  // namespace

class Notifier::Run final : private pty::LineProcessListener {
 public:
  Run(Notifier& owner, std::list<std::unique_ptr<Run>>::iterator place) : owner_{owner}, place_{place} {}

  Result<void> start(const pty::Command& command) {
    process_ = RELAY_TRY(pty::LineProcess::start(owner_.loop_, command, *this));
    timer_ = owner_.loop_.after(kTimeout, [this] { on_ended("it took too long"); });
    return {};
  }

 private:
  void on_line(std::string_view) override {}
  void on_ended(const std::string&) override {
    owner_.loop_.post([&owner = owner_, alive = owner_.lifetime_.watch(), place = place_] {
      if (alive) owner.running_.erase(place);
    });
    timer_ = nullptr;
  }

  Notifier& owner_;
  std::list<std::unique_ptr<Run>>::iterator place_;
  std::unique_ptr<pty::LineProcess> process_;
  std::unique_ptr<net::Timer> timer_;
};

Notifier::Notifier(net::AsioLoop& loop) : loop_{loop} {}
Notifier::~Notifier() = default;

void Notifier::use_settings(const config::Settings& settings) {
  command_.clear();
  std::istringstream arguments{settings.notify_command()};
  for (std::string argument; arguments >> argument;) command_.push_back(std::move(argument));
  desktop_ = settings.notify_desktop();
}

void Notifier::notify(const broker::NotifyUser& request, const std::string& project) {
  if ((command_.empty() && !desktop_) || !rate_.take(loop_.now().steady)) return;
  pty::Command command{.argv = command_, .environment = pty::inherited_environment(), .directory = project};
  strip_secrets(command.environment);
  if (desktop_) {
    // Without the text of the prompt: every user of the machine can read arguments.
    const auto need = request.kind == "question" ? std::string{"has a question"}
                                                 : format("needs a permission (risk {})", request.risk);
    run({.argv = {"notify-send", "--app-name=Agent Relay", "--", format("{} waits for you", request.agent),
                  format("It {}. See: agent-relay {}s", need, request.kind)},
         .environment = command.environment,
         .directory = "/"});  // a relative entry of PATH must not find a program that an agent wrote
  }
  if (command_.empty()) return;
  const auto set_variable = [&](std::string_view name, std::string_view value) {
    pty::set_variable(command.environment, name, variable_value(value));
  };
  set_variable("AGENT_RELAY_NOTIFY_AGENT", request.agent);
  set_variable("AGENT_RELAY_NOTIFY_KIND", request.kind);
  set_variable("AGENT_RELAY_NOTIFY_REQUEST", request.request);
  set_variable("AGENT_RELAY_NOTIFY_TEXT", request.text);
  set_variable("AGENT_RELAY_NOTIFY_RISK", request.risk);
  set_variable("AGENT_RELAY_NOTIFY_PROJECT", project);
  run(std::move(command));
}

void Notifier::run(pty::Command command) {
  if (running_.size() >= kMaxRunning) return;
  const auto place = running_.emplace(running_.end());
  *place = std::make_unique<Run>(*this, place);
  if (const auto started = (*place)->start(command); !started) {
    log::warn("cannot notify the user", {{"reason", started.error().message()}});
    running_.erase(place);
  }
}

}  // namespace relay::daemon
