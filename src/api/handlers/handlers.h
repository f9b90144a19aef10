/// The handlers of the route table (route_table.cc), by topic.
#pragma once

#include <functional>
#include <string>

#include "api/api.h"
#include "api/handlers/message_bodies.h"
#include "api/http/call.h"
#include "protocol/message_type.h"

namespace relay::api {

// system_handlers.cc
void get_health(Api& api, Call call);
void get_openapi(Api& api, Call call);
void show_docs(Api& api, Call call);
void get_metrics(Api& api, Call call);

// workspace_handlers.cc
void list_workspaces(Api& api, Call call);
void open_workspace(Api& api, Call call);
void get_workspace(Api& api, Call call);
void close_workspace(Api& api, Call call);
void switch_workspace(Api& api, Call call);

// agent_handlers.cc
void list_workspace_agents(Api& api, Call call);
void list_all_agents(Api& api, Call call);
void list_agents(Api& api, WorkspaceHandle workspace, Call call);

// control_handlers.cc
void pause_agent(Api& api, WorkspaceHandle workspace, Call call);
void resume_agent(Api& api, WorkspaceHandle workspace, Call call);

// agent_handlers.cc, control_handlers.cc: for one agent. The table chooses by_id or by_name.
void get_agent(Api& api, WorkspaceHandle workspace, const std::string& name, Call call);
void stop_agent(Api& api, WorkspaceHandle workspace, const std::string& name, Call call);
void send_input(Api& api, WorkspaceHandle workspace, const std::string& name, Call call);
void interrupt_agent(Api& api, WorkspaceHandle workspace, const std::string& name, Call call);
void get_output(Api& api, WorkspaceHandle workspace, const std::string& name, Call call);

// session_handlers.cc
void spawn_in_workspace(Api& api, Call call);
void create_session(Api& api, WorkspaceHandle workspace, Call call);
void get_session(Api& api, WorkspaceHandle workspace, Call call);
void message_session(Api& api, WorkspaceHandle workspace, Call call);
void end_session(Api& api, WorkspaceHandle workspace, Call call);

// prompt_handlers.cc
void list_permissions(Api& api, WorkspaceHandle workspace, Call call);
void list_all_permissions(Api& api, WorkspaceHandle workspace, Call call);
void approve_permission(Api& api, WorkspaceHandle workspace, Call call);
void deny_permission(Api& api, WorkspaceHandle workspace, Call call);
void list_questions(Api& api, WorkspaceHandle workspace, Call call);
void list_all_questions(Api& api, WorkspaceHandle workspace, Call call);
void answer_question(Api& api, WorkspaceHandle workspace, Call call);

// message_handlers.cc
void list_messages(Api& api, WorkspaceHandle workspace, Call call);
void send_message(Api& api, WorkspaceHandle workspace, Call call);
void message_agent(Api& api, WorkspaceHandle workspace, Call call);
void trace_message(Api& api, WorkspaceHandle workspace, Call call);

// report_handlers.cc
void list_events(Api& api, WorkspaceHandle workspace, Call call);
void report_costs(Api& api, WorkspaceHandle workspace, Call call);

// stream_handlers.cc
void stream_events(Api& api, WorkspaceHandle workspace, Call call);
void stream_agent_events(Api& api, WorkspaceHandle workspace, Call call);
void stream_session_events(Api& api, WorkspaceHandle workspace, Call call);
void open_live_socket(Api& api, WorkspaceHandle workspace, Call call);

// Helpers, handler_helpers.cc.

using Then = std::move_only_function<void(Call call, json::object answer)>;
/// Sends a request to the workspace and calls `then` with the response; an error goes to the client instead. The
/// workspace still exists inside `then` and inside the callbacks of requests that `then` sends.
void send_request(WorkspaceClient& client, protocol::MessageType type, json::object payload, Call call, Then then);

/// Visits all open workspaces one after the other, then calls `done`.
using Next = std::move_only_function<void()>;
using Each = std::function<void(WorkspaceHandle workspace, Next next)>;
void for_each_workspace(Api& api, Call call, Each each, std::move_only_function<void(Call call)> done);

/// Sends the message and responds to the call with the ACK or the error.
void send_message_to(Api& api, WorkspaceHandle workspace, const std::string& to, const SendMessageRequest& message,
                     Call call);

/// Finds the agent of `{id}`: the workspace id, a dot and the name, or the plain name.
using WithAgent = std::move_only_function<void(WorkspaceHandle workspace, std::string name, Call call)>;
void with_agent(Api& api, Call call, WithAgent then);

/// Adapters for routes whose path has the agent as `{id}` or as `{name}`.
template <auto kHandler>
void by_id(Api& api, Call call) {
  with_agent(api, std::move(call), [&api](WorkspaceHandle workspace, const std::string& name, Call reply) {
    kHandler(api, workspace, name, std::move(reply));
  });
}
template <auto kHandler>
void by_name(Api& api, WorkspaceHandle workspace, Call call) {
  const auto name = call.value("name");
  kHandler(api, workspace, name, std::move(call));
}

}  // namespace relay::api
