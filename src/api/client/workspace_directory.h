/// The open workspaces. Abstract, so that tests can replace it.
///
/// A request is for the workspace that it names (by id or root), else the default one (switch_to), else the only open
/// one.
/// Threading: the API's loop thread. Callbacks are called once, never inside the call.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "api/client/message_sender.h"
#include "api/client/workspace_client.h"
#include "api/http/api_error.h"

namespace relay::api {

struct LiveStreams;

struct WorkspaceInfo {
  std::string id = {};
  std::string root = {};
  std::int64_t connected = 0;  // number of agents
  std::int64_t known = 0;
  std::string storage = {};
  std::string warning = {};
};

/// A connected workspace. Borrowed: valid until the callback that received it returns.
struct WorkspaceHandle {
  WorkspaceClient& client;
  MessageSender& sender;
  LiveStreams* live = nullptr;  // null only in tests
};

class WorkspaceDirectory {
 public:
  using OnFound = std::move_only_function<void(ApiResult<WorkspaceHandle>)>;
  using OnListed = std::move_only_function<void(ApiResult<std::vector<WorkspaceInfo>>)>;
  using OnChanged = std::move_only_function<void(ApiResult<WorkspaceInfo>)>;

  virtual ~WorkspaceDirectory() = default;

  /// `which` is an id, a root or empty.
  virtual void find(std::string_view which, OnFound on_found) = 0;
  virtual void list(OnListed on_listed) = 0;
  virtual void open(const std::string& root, OnChanged on_done) = 0;
  virtual void close(const std::string& id, OnChanged on_done) = 0;
  /// Sets the default for requests that name no workspace.
  virtual void switch_to(const std::string& id, OnChanged on_done) = 0;
  [[nodiscard]] virtual const std::string& switched_to() const = 0;
};

/// The open workspace of a request; an error that lists them when it is ambiguous.
ApiResult<WorkspaceInfo> choose_workspace(const std::vector<WorkspaceInfo>& open, std::string_view which,
                                          std::string_view switched_to);

}  // namespace relay::api
