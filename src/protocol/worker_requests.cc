#include "protocol/worker_requests.h"

#include "base/format.h"
#include "protocol/errors.h"
#include "protocol/limits.h"
#include "protocol/names.h"
#include "protocol/payload_fields.h"
#include "text/utf8.h"

namespace relay::protocol {
namespace {

/// A string that fits a command line.
Result<std::string> read_plain_string(const Field& field, std::size_t max_bytes) {
  auto text = RELAY_TRY(read_string(field, max_bytes));
  if (text::has_control_characters(text))
    return fail(Errc::BadField, format("the field \"{}\" must be a string without control characters", field.name));
  return text;
}

Result<std::string> read_new_name(const Field& field) {
  auto name = RELAY_TRY(read_required_string(field, kMaxFrameBytes));
  RELAY_TRY(check_agent_name(name));
  if (is_reserved_name(name)) return fail(Errc::BadField, format("the name '{}' is reserved; choose another", name));
  return name;
}

void add_words(std::vector<std::string>& words, std::string_view text) {
  constexpr std::string_view kBlanks = " \t";
  for (std::size_t at = text.find_first_not_of(kBlanks); at != std::string_view::npos;) {
    const std::size_t end = std::min(text.find_first_of(kBlanks, at), text.size());
    words.emplace_back(text.substr(at, end - at));
    at = text.find_first_not_of(kBlanks, end);
  }
}

/// The message names no variable: a value may be a secret.
Result<std::vector<std::string>> read_environment(const Field& field) {
  auto variables = RELAY_TRY(read_strings(field, kMaxVariables, kMaxEnvironmentBytes));
  std::size_t bytes = 0;
  for (const auto& each : variables) {
    bytes += each.size() + 1;
    const auto equals = each.find('=');
    if (equals == 0 || equals == std::string::npos || each.find('\0') != std::string::npos)
      return fail(Errc::BadField, "the field \"environment\" must be strings of the form NAME=value");
  }
  if (bytes > kMaxEnvironmentBytes)
    return fail(Errc::BadField, format("the field \"environment\" may have {} bytes in all", kMaxEnvironmentBytes));
  return variables;
}

}  // namespace

Result<SpawnRequest> parse_spawn(std::string_view payload) {
  Field name{"name"}, cli{"cli"}, args{"args"}, task{"task"}, cwd{"cwd"}, team{"team"}, model{"model"}, role{"role"},
      spawner{"spawnerName"}, shadow_of{"shadowOf"}, environment{"environment"};
  RELAY_TRY(read_fields(payload,
                        {&name, &cli, &args, &task, &cwd, &team, &model, &role, &spawner, &shadow_of, &environment}));
  SpawnRequest request;
  request.name = RELAY_TRY(read_new_name(name));
  add_words(request.argv, RELAY_TRY(read_plain_string(cli, kMaxCommandBytes)));
  if (request.argv.empty())
    return fail(Errc::MissingField, "the field \"cli\" is missing; name the program to run, for example claude");
  for (auto& argument : RELAY_TRY(read_strings(args, kMaxArguments, kMaxCommandBytes))) {
    if (argument.find('\0') != std::string::npos)
      return fail(Errc::BadField, "the field \"args\" must be strings that a command line can hold");
    request.argv.push_back(std::move(argument));
  }
  request.task = RELAY_TRY(read_string(task, kMaxFrameBytes));
  request.directory = RELAY_TRY(read_plain_string(cwd, kMaxPathBytes));
  request.team = RELAY_TRY(read_plain_string(team, kMaxDescriptionBytes));
  request.model = RELAY_TRY(read_plain_string(model, kMaxDescriptionBytes));
  if (request.model.starts_with('-'))
    return fail(Errc::BadField, "the field \"model\" starts with '-', as options do; name a model");
  request.role = RELAY_TRY(read_plain_string(role, kMaxDescriptionBytes));
  request.spawner = RELAY_TRY(read_string(spawner, kMaxNameBytes));
  if (!request.spawner.empty()) RELAY_TRY(check_agent_name(request.spawner));
  request.shadow_of = RELAY_TRY(read_string(shadow_of, kMaxNameBytes));
  request.environment = RELAY_TRY(read_environment(environment));
  return request;
}

Result<ReleaseRequest> parse_release(std::string_view payload) {
  Field name{"name"}, reason{"reason"}, by{"by"};
  RELAY_TRY(read_fields(payload, {&name, &reason, &by}));
  ReleaseRequest request;
  request.name = RELAY_TRY(read_required_string(name, kMaxNameBytes));
  request.reason = RELAY_TRY(read_truncated_string(reason, kMaxReasonBytes));
  request.by = RELAY_TRY(read_string(by, kMaxNameBytes));
  return request;
}

Result<InputRequest> parse_send_input(std::string_view payload) {
  Field name{"name"}, data{"data"};
  RELAY_TRY(read_fields(payload, {&name, &data}));
  InputRequest request;
  request.name = RELAY_TRY(read_required_string(name, kMaxNameBytes));
  request.data = RELAY_TRY(read_required_string(data, kMaxInputBytes));
  return request;
}

}  // namespace relay::protocol
