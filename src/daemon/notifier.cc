#include "daemon/notifier.h"

#include <sstream>

#include "base/format.h"
#include "base/log.h"
#include "daemon/host_environment.h"
#include "text/utf8.h"

namespace relay::daemon {
namespace {

constexpr std::size_t kMaxTextBytes = 4096;  // of what is asked

/// An environment holds no zero bytes.
std::string fact(std::string_view text) {
  std::string kept{text::truncate_utf8(text, kMaxTextBytes)};
  std::erase(kept, '\0');
  return kept;
}

}  // namespace

class Notifier::Run final : private pty::LineProcessListener {
 public:
  Run(Notifier& owner, std::list<std::unique_ptr<Run>>::iterator place) : owner_{owner}, place_{place} {}

  Result<void> start(const pty::Command& command) {
    helper_ = RELAY_TRY(pty::LineProcess::start(owner_.loop_, command, *this));
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
  std::unique_ptr<pty::LineProcess> helper_;
  std::unique_ptr<net::Timer> timer_;
};

Notifier::Notifier(net::AsioLoop& loop) : loop_{loop} {}
Notifier::~Notifier() = default;

void Notifier::use_settings(const config::Settings& settings) {
  command_.clear();
  std::istringstream words{settings.notify_command()};
  for (std::string word; words >> word;) command_.push_back(std::move(word));
  desktop_ = settings.notify_desktop();
}

void Notifier::notify(const broker::NotifyUser& request, const std::string& project) {
  if ((command_.empty() && !desktop_) || !rate_.take(loop_.now().steady)) return;
  pty::Command command{.argv = command_, .environment = pty::inherited_environment(), .directory = project};
  strip_secrets(command.environment);
  if (desktop_) {
    // The words of the agent stay out of it: they would be among the arguments.
    const auto what = request.kind == "question" ? std::string{"asks a question"}
                                                 : format("asks for a permission (risk {})", request.risk);
    run({.argv = {"notify-send", "--app-name=Agent Relay", "--", format("{} waits for you", request.agent),
                  format("It {}. See: agent-relay {}s", what, request.kind)},
         .environment = command.environment,
         .directory = "/"});  // an entry of PATH that is relative must not lead to what an agent wrote
  }
  if (command_.empty()) return;
  const auto tell_fact = [&](std::string_view name, std::string_view value) {
    pty::set_variable(command.environment, name, fact(value));
  };
  tell_fact("AGENT_RELAY_NOTIFY_AGENT", request.agent);
  tell_fact("AGENT_RELAY_NOTIFY_KIND", request.kind);
  tell_fact("AGENT_RELAY_NOTIFY_REQUEST", request.request);
  tell_fact("AGENT_RELAY_NOTIFY_TEXT", request.text);
  tell_fact("AGENT_RELAY_NOTIFY_RISK", request.risk);
  tell_fact("AGENT_RELAY_NOTIFY_PROJECT", project);
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
