#include <memory>

#include "api/handlers/handlers.h"

namespace relay::api {
namespace {

constexpr std::size_t kWorkspaceIdDigits = 12;

struct WorkspaceIteration : std::enable_shared_from_this<WorkspaceIteration> {
  WorkspaceIteration(Api& used, Call reply, std::vector<WorkspaceInfo> open, Each visit,
                     std::move_only_function<void(Call)> end)
      : api{used}, call{std::move(reply)}, left{std::move(open)}, each{std::move(visit)}, done{std::move(end)} {}

  void advance() {
    if (left.empty()) return done(std::move(call));
    const auto id = left.back().id;
    left.pop_back();
    api.workspaces.find(id, [self = shared_from_this()](ApiResult<WorkspaceHandle> workspace) {
      if (!workspace) return self->advance();  // closed meanwhile
      self->each(*workspace, [self] { self->advance(); });
    });
  }

  Api& api;
  Call call;
  std::vector<WorkspaceInfo> left;
  Each each;
  std::move_only_function<void(Call)> done;
};

}  // namespace

void send_request(WorkspaceClient& client, protocol::MessageType type, json::object payload, Call call, Then then) {
  client.request(type, std::move(payload),
                 [call = std::move(call), then = std::move(then)](Result<json::object> response) mutable {
                   if (!response) return call.refuse(to_api_error(response.error()));
                   if (const auto error = api_error_in(*response)) return call.refuse(*error);
                   then(std::move(call), *std::move(response));
                 });
}

void for_each_workspace(Api& api, Call call, Each each, std::move_only_function<void(Call call)> done) {
  api.workspaces.list([&api, call = std::move(call), each = std::move(each),
                       done = std::move(done)](const ApiResult<std::vector<WorkspaceInfo>>& open) mutable {
    if (!open) return call.refuse(open.error());
    std::vector left(open->rbegin(), open->rend());
    std::make_shared<WorkspaceIteration>(api, std::move(call), std::move(left), std::move(each), std::move(done))
        ->advance();
  });
}

void with_agent(Api& api, Call call, WithAgent then) {
  const auto& id = call.value("id");
  const bool qualified = id.size() > kWorkspaceIdDigits + 1 && id[kWorkspaceIdDigits] == '.' &&
                         id.find_first_not_of("0123456789abcdef") == kWorkspaceIdDigits;
  const auto which = qualified ? id.substr(0, kWorkspaceIdDigits) : call.text("workspace");
  auto name = qualified ? id.substr(kWorkspaceIdDigits + 1) : id;
  api.workspaces.find(which, [name = std::move(name), call = std::move(call),
                              then = std::move(then)](ApiResult<WorkspaceHandle> workspace) mutable {
    if (!workspace) return call.refuse(workspace.error());
    then(*workspace, std::move(name), std::move(call));
  });
}

}  // namespace relay::api
