#include "api/client/daemon_workspaces.h"

#include <algorithm>
#include <filesystem>

#include "base/format.h"

namespace relay::api {
namespace {

using protocol::MessageType;

constexpr Millis kListTimeout{5'000};
constexpr Millis kOpenTimeout{30'000};   // recovery of a large database takes its time
constexpr Millis kCloseTimeout{15'000};  // what is under way is still committed
constexpr std::size_t kMaxCalls = 64;
constexpr std::size_t kIdBytes = 8;

std::vector<std::string> spellings_of(const std::string& root) {
  namespace fs = std::filesystem;
  const auto without_slash = [](std::string path) {
    while (path.size() > 1 && path.ends_with('/')) path.pop_back();
    return path;
  };
  std::error_code unreadable;
  return {root, without_slash(fs::path{root}.lexically_normal().string()),
          without_slash(fs::weakly_canonical(root, unreadable).string())};
}

std::string text(const json::object& entry, std::string_view name) { return string_member(entry, name).value_or(""); }

}  // namespace

DaemonWorkspaces::DaemonWorkspaces(net::EventLoop& loop, net::Network& network, Random& random,
                                   std::string control_socket, HostsOf hosts_of)
    : loop_{loop},
      network_{network},
      random_{random},
      control_socket_{std::move(control_socket)},
      hosts_of_{std::move(hosts_of)} {}

DaemonWorkspaces::~DaemonWorkspaces() {
  const auto links = std::exchange(links_, {});  // first: who waits there is answered, and may ask for the next one
}

std::vector<WorkspaceInfo> DaemonWorkspaces::listed() const {
  std::vector<WorkspaceInfo> all;
  for (const auto& [root, entry] : open_) all.push_back(entry.told);
  return all;
}

bool DaemonWorkspaces::fresh() const { return known_ && loop_.now().steady - listed_at_ < kListFresh; }

void DaemonWorkspaces::command(MessageType type, json::object payload, Millis patience, Told told) {
  if (calls_.size() >= kMaxCalls)
    return loop_.post([told = std::move(told)]() mutable {
      told(std::unexpected{refusal_by_code("BUSY", "too many workspaces are being opened or closed; try again")});
    });
  const auto number = ++last_call_;
  DaemonRequest order{
      .type = type, .id = random_.hex(kIdBytes), .payload = json::serialize(payload), .timeout = patience};
  calls_.emplace(number, std::make_unique<DaemonCall>(
                             loop_, network_, control_socket_, std::move(order),
                             [this, number, told = std::move(told)](Result<DaemonResponse> answer) mutable {
                               const auto call = calls_.extract(number);
                               told(take(answer));
                             }));
}

/// Every answer of the control socket tells what is open now.
ApiResult<void> DaemonWorkspaces::take(const Result<DaemonResponse>& answer) {
  if (!answer) return std::unexpected{to_api_error(answer.error())};
  open_.clear();
  if (const auto* all = array_member(answer->payload, "workspaces"))
    for (const auto& value : *all) {
      const auto* entry = value.if_object();
      if (entry == nullptr) continue;
      open_[text(*entry, "root")] = {.told = {.id = text(*entry, "projectId"),
                                              .root = text(*entry, "root"),
                                              .connected = integer_member(*entry, "connected").value_or(0),
                                              .known = integer_member(*entry, "known").value_or(0),
                                              .storage = text(*entry, "storage"),
                                              .warning = text(*entry, "warning")},
                                     .socket = text(*entry, "socket")};
    }
  known_ = true;
  listed_at_ = loop_.now().steady;
  std::erase_if(links_, [&](const auto& link) { return !open_.contains(link.second.link->root()); });
  if (const auto error = string_member(answer->payload, "error"))
    return std::unexpected{refusal_by_code(text(answer->payload, "code"), *error)};
  return {};
}

void DaemonWorkspaces::refresh(Told told) {
  waiting_.push_back(std::move(told));
  if (waiting_.size() > 1) return;
  command(MessageType::WorkspaceList, {}, kListTimeout, [this](const ApiResult<void>& outcome) {
    for (auto all = std::exchange(waiting_, {}); auto& each : all) each(outcome);
  });
}

bool DaemonWorkspaces::is_disconnected(const std::string& id) const {
  const auto link = links_.find(id);
  return link != links_.end() && link->second.link->is_cut();
}

WorkspaceHandle DaemonWorkspaces::reach(const std::string& id) {
  auto& [link, live] = links_[id];
  const auto entry = std::ranges::find_if(open_, [&](const auto& each) { return each.second.told.id == id; });
  RELAY_ASSERT(entry != open_.end());
  if (!link || link->socket() != entry->second.socket) {
    live.reset();
    link = std::make_unique<SocketWorkspaceClient>(
        loop_, network_, random_,
        WorkspaceLocation{
            .id = id, .root = entry->first, .socket = entry->second.socket, .hosts = hosts_of_(entry->first)});
    live = std::make_unique<LiveStreams>(loop_, network_, *link);
  }
  return {*link, *link, live.get()};
}

void DaemonWorkspaces::end_streams(const std::string& reason) {
  for (const auto& [id, reached] : links_)
    if (reached.live) reached.live->end(reason);
}

void DaemonWorkspaces::find(std::string_view which, Found found) {
  if (fresh())
    if (const auto chosen = choose_workspace(listed(), which, switched_to_); chosen && !is_disconnected(chosen->id))
      return loop_.post([this, id = chosen->id, which = std::string{which}, found = std::move(found)]() mutable {
        if (const auto still = choose_workspace(listed(), id, {})) return found(reach(id));
        found(std::unexpected{not_found("the workspace was closed")});
      });
  refresh([this, which = std::string{which}, found = std::move(found)](ApiResult<void> outcome) mutable {
    if (!outcome) return found(std::unexpected{outcome.error()});
    const auto chosen = choose_workspace(listed(), which, switched_to_);
    if (!chosen) return found(std::unexpected{chosen.error()});
    found(reach(chosen->id));
  });
}

void DaemonWorkspaces::list(Listed told) {
  refresh([this, told = std::move(told)](ApiResult<void> outcome) mutable {
    if (!outcome) return told(std::unexpected{outcome.error()});
    told(listed());
  });
}

void DaemonWorkspaces::open(const std::string& root, Changed opened) {
  command(
      MessageType::WorkspaceOpen, {{"root", root}}, kOpenTimeout,
      [this, root, opened = std::move(opened)](ApiResult<void> outcome) mutable {
        if (!outcome) return opened(std::unexpected{outcome.error()});
        // Perhaps under another spelling: a slash at the end, a link that leads there.
        for (const auto& spelling : spellings_of(root))
          if (const auto named = choose_workspace(listed(), spelling, {})) return opened(*named);
        opened(std::unexpected{conflict("FAILED", "the workspace is open under another path; see GET /workspaces")});
      });
}

void DaemonWorkspaces::close(const std::string& id, Changed closed) {
  refresh([this, id, closed = std::move(closed)](ApiResult<void> outcome) mutable {
    if (!outcome) return closed(std::unexpected{outcome.error()});
    auto chosen = choose_workspace(listed(), id, {});
    if (!chosen) return closed(std::unexpected{chosen.error()});
    command(MessageType::WorkspaceClose, {{"root", chosen->root}}, kCloseTimeout,
            [workspace = *chosen, closed = std::move(closed)](ApiResult<void> done) mutable {
              if (!done) return closed(std::unexpected{done.error()});
              closed(workspace);
            });
  });
}

void DaemonWorkspaces::switch_to(const std::string& id, Changed switched) {
  refresh([this, id, switched = std::move(switched)](ApiResult<void> outcome) mutable {
    if (!outcome) return switched(std::unexpected{outcome.error()});
    auto chosen = choose_workspace(listed(), id, {});
    if (!chosen) return switched(std::unexpected{chosen.error()});
    switched_to_ = chosen->id;
    switched(*std::move(chosen));
  });
}

}  // namespace relay::api
