/// Request and response bodies about workspaces, health and success.
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
    object("Health", "The daemon is running.", member<&api::HealthBody::status>("status", "`ok`"),
           member<&api::HealthBody::version>("version", "the version of the daemon"));

template <>
inline constexpr auto kObject<api::SuccessBody> =
    object("Success", "The request succeeded.", member<&api::SuccessBody::success>("success", "true"));

template <>
inline constexpr auto kObject<api::ErrorDetail> =
    object("ErrorDetail", "The details of an error.",
           member<&api::ErrorDetail::code>("code", "for programs, such as `NOT_FOUND`"),
           member<&api::ErrorDetail::message>("message", "for users: what failed, why, and the next step"));
template <>
inline constexpr auto kObject<api::ErrorBody> =
    object("Error", "Why a request failed.", member<&api::ErrorBody::error>("error", "code and message"));

template <>
inline constexpr auto kObject<api::WorkspaceBody> =
    object("Workspace", "An open workspace: one project with its agents and messages.",
           member<&api::WorkspaceBody::id>("id", "12 hex digits derived from the path"),
           member<&api::WorkspaceBody::name>("name", "the last part of the path"),
           member<&api::WorkspaceBody::path>("path", "the project's root"),
           member<&api::WorkspaceBody::status>("status", "`active`; only open workspaces are listed"),
           member<&api::WorkspaceBody::connected_agents>("connectedAgents", "number of connected agents"),
           member<&api::WorkspaceBody::known_agents>("knownAgents", "number of known agents"),
           member<&api::WorkspaceBody::storage>("storage", "the kind of store"),
           member<&api::WorkspaceBody::warning>("warning", "a problem that the user should know about"));
template <>
inline constexpr auto kObject<api::WorkspaceList> = object(
    "WorkspaceList", "All open workspaces.", member<&api::WorkspaceList::workspaces>("workspaces", "in path order"),
    member<&api::WorkspaceList::active_workspace_id>("activeWorkspaceId",
                                                     "the default for requests that name no workspace"));
template <>
inline constexpr auto kObject<api::OpenWorkspaceRequest> = object(
    "OpenWorkspaceRequest", "A project to open.",
    member<&api::OpenWorkspaceRequest::path>("path", "the absolute path of its root", {.min = 1, .max = 4096}),
    member<&api::OpenWorkspaceRequest::name>("name", "accepted and ignored: a workspace has the name of its directory"),
    member<&api::OpenWorkspaceRequest::provider>("provider", "accepted and ignored"));

}  // namespace relay::schema
