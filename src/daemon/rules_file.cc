#include "daemon/rules_file.h"

#include "base/log.h"
#include "config/settings.h"
#include "permissions/policy_file.h"
#include "profiles/own_profiles.h"

namespace relay::daemon {

RulesFile::RulesFile(net::AsioLoop& loop, const config::Home& home, Sink sink)
    : loop_{loop}, home_{home}, sink_{std::move(sink)} {
  auto watch = net::FileWatch::begin(loop, home.config_file,
                                     [this](net::FileChange) { timer_ = loop_.after(kSettle, [this] { read(); }); });
  if (watch)
    watch_ = *std::move(watch);
  else
    log::warn("changes of the permission rules are seen on SIGHUP only", {{"reason", watch.error().message()}});
  read();
}

void RulesFile::read() {
  timer_ = nullptr;
  const auto text = config::read_config(home_.config_file);
  auto policy = text ? permissions::parse_policy(*text, home_.config_file) : Failure{text.error()};
  if (!policy)
    log::warn("the permission rules are not in force: a person is asked everything",
              {{"reason", policy.error().message()}});
  else if (refused_)
    log::info("the permission rules are in force again");
  refused_ = !policy;
  sink_({std::make_shared<const permissions::Policy>(policy ? *std::move(policy) : permissions::Policy{}),
         std::make_shared<const broker::SpawnPolicy>(text ? spawn_policy(*text) : broker::SpawnPolicy{})});
}

/// A mistake anywhere in the file leaves it off.
broker::SpawnPolicy RulesFile::spawn_policy(std::string_view text) const {
  config::Settings settings;
  if (!settings.apply_file(text, home_.config_file)) return {};
  broker::SpawnPolicy policy{.by_agents = broker::spawn_by_agents_named(settings.text(config::Setting::SpawnByAgents))};
  if (policy.by_agents == broker::SpawnByAgents::Off) return policy;
  const auto programs = profiles::programs_with_profile(profiles::read_own_profiles(home_.root + "/profiles"));
  policy.programs = {programs.begin(), programs.end()};
  return policy;
}

}  // namespace relay::daemon
