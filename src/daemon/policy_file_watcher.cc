#include "daemon/policy_file_watcher.h"

#include "base/log.h"
#include "permissions/policy_file.h"
#include "profiles/user_profiles.h"

namespace relay::daemon {

PolicyFileWatcher::PolicyFileWatcher(net::AsioLoop& loop, const config::Home& home, Sink sink)
    : loop_{loop}, home_{home}, sink_{std::move(sink)} {
  auto watch = net::FileWatch::start(loop, home.config_file, [this](net::FileWatchEvent) {
    timer_ = loop_.after(kSettleTime, [this] { (void)read(); });
  });
  if (watch)
    watch_ = *std::move(watch);
  else
    log::warn("changes of the permission rules are read on SIGHUP only", {{"reason", watch.error().message()}});
  (void)read();
}

Result<void> PolicyFileWatcher::read() {
  timer_ = nullptr;
  auto rules = load();
  if (!rules)
    log::warn("permission rules not in force; the user decides every request", {{"reason", rules.error().message()}});
  else if (failed_)
    log::info("the permission rules are in force again");
  failed_ = !rules;
  Result<void> outcome = rules ? Result<void>{} : Failure{rules.error()};
  sink_(rules ? *std::move(rules)
              : Rules{std::make_shared<const permissions::Policy>(), std::make_shared<const broker::SpawnPolicy>()});
  return outcome;
}

Result<Rules> PolicyFileWatcher::load() const {
  const auto text = RELAY_TRY(config::read_config(home_.config_file));
  auto policy = RELAY_TRY(permissions::parse_policy(text, home_.config_file));
  config::Settings settings;
  RELAY_TRY(settings.apply_file(text, home_.config_file));
  return Rules{std::make_shared<const permissions::Policy>(std::move(policy)),
               std::make_shared<const broker::SpawnPolicy>(spawn_policy(settings))};
}

broker::SpawnPolicy PolicyFileWatcher::spawn_policy(const config::Settings& settings) const {
  broker::SpawnPolicy policy{.by_agents = broker::parse_spawn_by_agents(settings.text(config::Setting::SpawnByAgents))};
  if (policy.by_agents == broker::SpawnByAgents::Off) return policy;
  const auto programs = profiles::programs_with_profile(profiles::read_own_profiles(home_.root + "/profiles"));
  policy.programs = {programs.begin(), programs.end()};
  return policy;
}

}  // namespace relay::daemon
