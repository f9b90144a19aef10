/// `agent-relay openapi`
#include "api/http/openapi.h"

#include "base/json.h"
#include "cli/commands/commands.h"
#include "cli/framework/context.h"
#include "cli/framework/invocation.h"
#include "cli/version.h"

namespace relay::cli {
namespace {

ExitCode run(const Invocation&, Context&) {
  print(api::openapi_text(kVersion));
  return ExitCode::Ok;
}

}  // namespace

const Command kOpenApi = {
    .name = "openapi",
    .group = Group::Plumbing,
    .usage = "openapi",
    .summary = "print the HTTP API as an OpenAPI 3.1 document",
    .example = "agent-relay openapi > openapi.json",
    .details = "The same as /openapi.json of a running daemon; does not need one.",
    .run = run,
};

}  // namespace relay::cli
