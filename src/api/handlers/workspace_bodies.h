/// Workspaces, health and plain success, as clients read and write them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "schema/schema.h"

namespace relay::api {

struct HealthBody {
  std::string status = "ok";
  std::string version = {};
};

struct SuccessBody {
  bool success = true;
};

struct ErrorDetail {
  std::string code = {};
  std::string message = {};
};
struct ErrorBody {
  ErrorDetail error = {};
};

struct WorkspaceBody {
  std::string id = {};
  std::string name = {};
  std::string path = {};
  std::string status = "active";
  std::int64_t connected_agents = 0;
  std::int64_t known_agents = 0;
  std::optional<std::string> storage = {};
  std::optional<std::string> warning = {};
};
struct WorkspaceList {
  std::vector<WorkspaceBody> workspaces = {};
  std::optional<std::string> active_workspace_id = {};
};
struct OpenWorkspaceRequest {
  std::string path = {};
  std::optional<std::string> name = {};
  std::optional<std::string> provider = {};
};

}  // namespace relay::api

namespace relay::schema {

template <>
inline constexpr auto kObject<api::HealthBody> =
    object("Health", "The relay answers.", member<&api::HealthBody::status>("status", "`ok`"),
           member<&api::HealthBody::version>("version", "of the relay"));

template <>
inline constexpr auto kObject<api::SuccessBody> =
    object("Done", "It is done.", member<&api::SuccessBody::success>("success", "true"));

template <>
inline constexpr auto kObject<api::ErrorDetail> =
    object("ErrorDetail", "What was wrong.", member<&api::ErrorDetail::code>("code", "for programs: `NOT_FOUND`"),
           member<&api::ErrorDetail::message>("message", "one sentence for people: what, why, what to do next"));
template <>
inline constexpr auto kObject<api::ErrorBody> =
    object("Error", "Why a request was not done.", member<&api::ErrorBody::error>("error", "code and sentence"));

template <>
inline constexpr auto kObject<api::WorkspaceBody> =
    object("Workspace", "An open workspace: one project with its agents and messages.",
           member<&api::WorkspaceBody::id>("id", "12 hex digits, always the same for a path"),
           member<&api::WorkspaceBody::name>("name", "the last part of the path"),
           member<&api::WorkspaceBody::path>("path", "the project's root"),
           member<&api::WorkspaceBody::status>("status", "`active`: what is listed is open"),
           member<&api::WorkspaceBody::connected_agents>("connectedAgents", "that are here now"),
           member<&api::WorkspaceBody::known_agents>("knownAgents", "that were ever here"),
           member<&api::WorkspaceBody::storage>("storage", "where its messages are kept"),
           member<&api::WorkspaceBody::warning>("warning", "something a person should know"));
template <>
inline constexpr auto kObject<api::WorkspaceList> =
    object("WorkspaceList", "All open workspaces.", member<&api::WorkspaceList::workspaces>("workspaces", "by path"),
           member<&api::WorkspaceList::active_workspace_id>("activeWorkspaceId",
                                                            "the one that requests mean which name none"));
template <>
inline constexpr auto kObject<api::OpenWorkspaceRequest> = object(
    "WorkspaceToOpen", "A project to open.",
    member<&api::OpenWorkspaceRequest::path>("path", "its root, absolute", {.min = 1, .max = 4096}),
    member<&api::OpenWorkspaceRequest::name>("name", "taken and not used: a workspace is called as its directory"),
    member<&api::OpenWorkspaceRequest::provider>("provider", "taken and not used"));

}  // namespace relay::schema
