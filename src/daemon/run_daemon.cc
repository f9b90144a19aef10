#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <optional>

#include "base/format.h"
#include "base/log.h"
#include "base/random.h"
#include "daemon/daemon.h"
#include "daemon/home_watch.h"
#include "daemon/host_launcher.h"
#include "daemon/http_api.h"
#include "daemon/instance_lock.h"
#include "daemon/notifier.h"
#include "daemon/policy_file_watcher.h"
#include "daemon/private_file.h"
#include "daemon/service_notify.h"
#include "daemon/supervisor.h"
#include "host/spawn_protocol.h"
#include "net/asio_loop.h"
#include "net/signals.h"
#include "net/unix_network.h"
#include "observer/observer.h"

namespace relay::daemon {
namespace {

constexpr mode_t kOwnerOnly = 077;

/// Every connection is a descriptor; the default soft limit of 1024 would limit connections.
void raise_descriptor_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= limit.rlim_max) return;
  limit.rlim_cur = limit.rlim_max;
  if (::setrlimit(RLIMIT_NOFILE, &limit) != 0) {
    log::warn("cannot raise the limit of open files", {{"reason", Error::from_errno("setrlimit").message()}});
  }
}

Result<void> open_log(const DaemonOptions& options, const config::Settings& settings) {
  const auto min_level = settings.debug() ? log::Level::Debug : log::Level::Info;
  if (options.log == LogTo::File) return log::open_file(options.home.daemon_log, min_level);
  log::open_stderr(min_level);
  return {};
}

void notify_parent(int fd, std::string_view line) {
  if (fd < 0) return;
  [[maybe_unused]] const ssize_t ignored = ::write(fd, line.data(), line.size());  // the parent may have ended
  ::close(fd);
}

/// Parts besides the supervisor that follow config.toml.
struct Followers {
  std::optional<Notifier> notifier;
  std::optional<PolicyFileWatcher> rules;
};

/// On an error the old settings stay in force, without permission rules.
Result<void> apply_configuration(const DaemonOptions& options, Supervisor& supervisor, Followers& followers) {
  auto loaded = options.reload_settings ? options.reload_settings() : Result<config::Settings>{supervisor.settings()};
  // First, even if the file is invalid: the daemon writes to a rotated log until it reopens the file.
  if (auto reopened = open_log(options, loaded ? *loaded : supervisor.settings()); !reopened)
    log::warn(reopened.error().message());
  if (followers.rules) RELAY_TRY(followers.rules->read());
  auto settings = RELAY_TRY(std::move(loaded));
  if (followers.notifier) followers.notifier->use_settings(settings);
  supervisor.use_settings(std::move(settings));
  log::info("configuration reloaded");
  return {};
}

Result<void> reload(const DaemonOptions& options, Supervisor& supervisor, Followers& followers) {
  notify_reloading();
  auto loaded = apply_configuration(options, supervisor, followers);
  if (!loaded)
    log::error("configuration not reloaded; the old one stays in force, without permission rules and spawns by agents",
               {{"reason", loaded.error().message()}});
  notify_ready();
  return loaded;
}

/// Follows agents that were started without the relay. A failure affects nothing else.
std::unique_ptr<observer::Observer> start_observer(const DaemonOptions& options) {
  if (options.capture_home.empty()) return nullptr;
  const auto root_of = [home = options.home](const std::string& directory) {
    const auto unset = [](std::string_view) { return std::nullopt; };
    return config::workspace_root(config::find_project_root(directory, home, unset), home, unset);
  };
  auto observer = observer::Observer::start({.capture_home = options.capture_home,
                                             .control_socket = config::socket_to_connect(options.home.daemon_socket),
                                             .notes_directory = options.home.root + "/observed",
                                             .project_root = root_of});
  if (observer) return *std::move(observer);
  log::warn("agents that were started without agent-relay are not observed", {{"error", observer.error().message()}});
  return nullptr;
}

/// Runs the daemon while the relay home is locked.
Result<int> run_locked(const DaemonOptions& options, const ProcessDefaults& defaults, int& ready_fd) {
  RELAY_TRY(open_log(options, options.settings));
  raise_descriptor_limit();
  RELAY_TRY(replace_private_file(options.home.daemon_pid, format("{}\n", ::getpid())));

  SystemRandom random;
  net::AsioLoop loop;
  net::UnixNetwork network{loop};
  ProcessLauncher launcher{loop, {.log = options.home.daemon_log, .defaults = defaults}};
  std::unique_ptr<HttpApi> http;  // its streams flush while the loop drains
  std::unique_ptr<observer::Observer> observer;
  std::unique_ptr<net::Signals> signals;
  std::optional<HomeWatch> home_watch;
  Followers followers;
  Supervisor supervisor{options, loop, network, random, launcher, [&] {
                          observer.reset();
                          signals.reset();
                          home_watch.reset();
                          followers.rules.reset();
                          followers.notifier.reset();
                          if (http) http->begin_stop();
                          launcher.abandon();
                          loop.finish();  // streams with pending output keep the loop running
                        }};
  bool ending = false;
  signals = std::make_unique<net::Signals>(loop, std::initializer_list<int>{SIGTERM, SIGINT, SIGHUP}, [&](int number) {
    if (number == SIGHUP) return static_cast<void>(reload(options, supervisor, followers));
    if (ending) return loop.stop();  // a second signal ends at once
    ending = true;
    supervisor.begin_shutdown();
  });

  followers.notifier.emplace(loop).use_settings(options.settings);
  supervisor.set_attention_sink([&](const broker::NotifyUser& request, const std::string& root) {
    if (followers.notifier) followers.notifier->notify(request, root);
  });
  followers.rules.emplace(loop, options.home, [&](Rules rules) { supervisor.use_rules(std::move(rules)); });

  supervisor.on_reload([&] { return reload(options, supervisor, followers); });

  RELAY_TRY(HttpApi::check(options));
  RELAY_TRY(supervisor.start());
  home_watch.emplace(loop, std::vector{config::socket_to_connect(options.home.daemon_socket), options.home.daemon_lock},
                     [&supervisor] { supervisor.begin_shutdown(); });
  http = HttpApi::start(options);
  supervisor.report_http(http->url(), http->error());
  observer = start_observer(options);
  log::info("listening",
            {{"version", options.version}, {"pid", format("{}", ::getpid())}, {"home", options.home.root}});
  notify_ready();
  notify_parent(std::exchange(ready_fd, -1), "ready\n");
  loop.run();
  log::info("ended");
  return 0;
}

Result<int> run_in_home(const DaemonOptions& options, const ProcessDefaults& defaults, int& ready_fd) {
  RELAY_TRY(config::make_private_directory(options.home.root));
  const auto lock = RELAY_TRY(InstanceLock::acquire(options.home.daemon_lock, options.home.daemon_pid));
  auto ended = run_locked(options, defaults, ready_fd);
  if (!ended) log::error("the daemon did not start", {{"reason", ended.error().message()}});
  ::unlink(options.home.daemon_pid.c_str());
  log::close();
  return ended;
}

}  // namespace

Result<int> run_daemon(const DaemonOptions& options) {
  const auto defaults = ProcessDefaults::now();
  net::ignore_sigpipe();
  ::signal(SIGXFSZ, SIG_IGN);  // a file size limit fails writes like a full disk
  ::umask(kOwnerOnly);
  int ready_fd = options.ready_fd;
  auto ended = run_in_home(options, defaults, ready_fd);
  if (!ended) {
    const auto prefix = is(ended.error(), Errc::AlreadyRunning) ? host::kRunningPrefix : host::kErrorPrefix;
    notify_parent(ready_fd, format("{}{}\n", prefix, ended.error().message()));
  }
  return ended;
}

}  // namespace relay::daemon
