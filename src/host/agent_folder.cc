#include "host/agent_folder.h"

#include <utility>

#include "base/directory.h"
#include "host/delivery/message_files.h"
#include "host/instructions.h"

namespace relay::host {
namespace {

constexpr std::string_view kSkillFile = "relay.md";
constexpr std::string_view kOutboxName = "outbox";
constexpr std::string_view kMessagesName = "messages";
constexpr std::size_t kMaxFolders = 1'000;  // of other agents that are checked

struct MadeFolder {
  std::string skill, outbox;
};

std::vector<std::string> below(std::vector<std::string> names, std::string_view name) {
  names.emplace_back(name);
  return names;
}

Result<MadeFolder> make_folder(const AgentFolderOptions& options) {
  const auto top = RELAY_TRY(DiskDirectory::open_inside(options.root, {options.names.front()}));
  RELAY_TRY(top->create_once(".gitignore", "*\n"));  // it must not be committed
  const auto folder = RELAY_TRY(DiskDirectory::open_inside(options.root, options.names));
  const std::string skill{kSkillFile};
  {
    const auto file = RELAY_TRY(folder->create(skill + ".new"));
    RELAY_TRY(file->append(skill_text()));
  }
  RELAY_TRY(folder->replace(skill, skill + ".new"));
  const auto outbox = RELAY_TRY(DiskDirectory::open_inside(options.root, below(options.names, kOutboxName)));
  return MadeFolder{folder->path() + "/" + skill, outbox->path()};
}

/// Null where there is no such directory.
std::unique_ptr<DiskDirectory> find_folder(const std::string& root, const std::vector<std::string>& names) {
  auto found = DiskDirectory::find_inside(root, names);
  return found ? *std::move(found) : nullptr;
}

}  // namespace

Result<AgentFolder> AgentFolder::make(AgentFolderOptions options) {
  auto made = make_folder(options);
  // Another agent that ends may have removed a directory while it was empty.
  if (!made) made = make_folder(options);
  if (!made) {
    clear_agent_folder(options, SystemClock{}.now().wall);
    return Failure{std::move(made).error()};
  }
  return AgentFolder{std::move(options), std::move(made->skill), std::move(made->outbox)};
}

AgentFolder::AgentFolder(AgentFolderOptions options, std::string skill, std::string outbox)
    : options_{std::move(options)}, skill_{std::move(skill)}, outbox_{std::move(outbox)} {}

AgentFolder::AgentFolder(AgentFolder&& other) noexcept
    : options_{std::exchange(other.options_, {})}, skill_{std::move(other.skill_)}, outbox_{std::move(other.outbox_)} {}

AgentFolder::~AgentFolder() {
  if (!options_.names.empty()) clear_agent_folder(options_, SystemClock{}.now().wall);
}

void clear_agent_folder(const AgentFolderOptions& options, WallMs now) {
  const std::vector<std::string> parents(options.names.begin(), options.names.end() - 1);
  const auto agents = find_folder(options.root, parents);
  if (!agents) return;
  if (const auto own = find_folder(options.root, options.names)) {
    const std::string skill{kSkillFile};
    const auto text = own->read(skill, skill_text().size());
    if (text && *text == skill_text()) (void)own->remove(skill);
    own->remove_empty_directory(std::string{kOutboxName});
  }
  const WallMs oldest = now - std::chrono::duration_cast<Millis>(options.retention).count();
  auto names = agents->directories();
  if (names.size() > kMaxFolders) names.resize(kMaxFolders);
  names.push_back(options.names.back());
  for (const auto& name : names) {
    const auto messages = find_folder(options.root, below(below(parents, name), kMessagesName));
    if (messages) remove_long_texts_before(*messages, oldest);
    const auto folder = find_folder(options.root, below(parents, name));
    const bool emptied = folder && messages && folder->remove_empty_directory(std::string{kMessagesName});
    if (emptied || name == options.names.back()) agents->remove_empty_directory(name);
  }
  const std::vector<std::string> above(parents.begin(), parents.end() - 1);
  if (const auto top = find_folder(options.root, above)) top->remove_empty_directory(parents.back());
}

}  // namespace relay::host
