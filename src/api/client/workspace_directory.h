/// The open workspaces as handlers see them; abstract, so that tests can play them.
///
/// Which one a request means: the one it names (by id or by root), else the one that was switched to, else the only one.
/// Threading: the API's loop thread. Callbacks are called once, and never inside the call.
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
  std::int64_t connected = 0;  // agents
  std::int64_t known = 0;
  std::string storage = {};
  std::string warning = {};
};

/// One that can be spoken to. Borrowed: good until the callback it was given to returns; asked for again later.
struct WorkspaceHandle {
  WorkspaceClient& client;
  MessageSender& sender;
  LiveStreams* live = nullptr;  // always there behind a real server
};

class WorkspaceDirectory {
 public:
  using OnFound = std::move_only_function<void(ApiResult<WorkspaceHandle>)>;
  using OnListed = std::move_only_function<void(ApiResult<std::vector<WorkspaceInfo>>)>;
  using OnChanged = std::move_only_function<void(ApiResult<WorkspaceInfo>)>;

  virtual ~WorkspaceDirectory() = default;

  /// An id, a root, or nothing.
  virtual void find(std::string_view which, OnFound on_found) = 0;
  virtual void list(OnListed on_listed) = 0;
  virtual void open(const std::string& root, OnChanged on_done) = 0;
  virtual void close(const std::string& id, OnChanged on_done) = 0;
  /// For requests that name none.
  virtual void switch_to(const std::string& id, OnChanged on_done) = 0;
  [[nodiscard]] virtual const std::string& switched_to() const = 0;
};

/// Of those that are open, the one that is meant; a sentence that lists them when nobody can tell.
ApiResult<WorkspaceInfo> choose_workspace(const std::vector<WorkspaceInfo>& open, std::string_view which,
                                          std::string_view switched_to);

}  // namespace relay::api
