#include "mcp/server.h"

#include <algorithm>
#include <utility>

#include "base/format.h"
#include "text/utf8.h"

namespace relay::mcp {
namespace {

constexpr std::int64_t kListTtlMs = 3'600'000;  // lists are fixed until the process ends
constexpr std::size_t kSeenOfLongLine = 1'024;
constexpr std::size_t kShownBytes = 120;  // of client text in an error message

std::string structured(std::string_view text) { return std::string{text::truncate_utf8(text, kShownBytes)}; }

json::object server_info(const std::string& version) {
  json::object info;
  info["name"] = "agent-relay";
  info["title"] = "Agent Relay";
  info["version"] = version;
  return info;
}

json::object capabilities() {
  json::object resources;
  resources["subscribe"] = true;
  json::object all;
  all["tools"] = json::object{};
  all["resources"] = std::move(resources);
  return all;
}

void make_cacheable(json::object& result, std::int64_t ttl_ms) {
  result["ttlMs"] = ttl_ms;
  result["cacheScope"] = "private";
}

json::value progress_token(const json::object& params) {
  const auto* meta = object_member(params, "_meta");
  const auto* token = meta != nullptr ? meta->if_contains("progressToken") : nullptr;
  return token != nullptr && (token->is_string() || token->is_number()) ? *token : json::value(nullptr);
}

std::string updated_line(std::string_view uri, json::object meta) {
  json::object params;
  params["uri"] = uri;
  if (!meta.empty()) params["_meta"] = std::move(meta);
  return notification_line("notifications/resources/updated", std::move(params));
}

}  // namespace

Server::Server(ServerDescription description, RequestHandler& handler, Output output)
    : description_{std::move(description)}, handler_{handler}, output_{std::move(output)} {}

void Server::on_line_too_long(std::string_view prefix, std::string_view suffix) {
  const auto id = id_of_cut_line(prefix, suffix);
  refuse(id, id.is_null() ? RpcCode::ParseError : RpcCode::InvalidRequest,
         format("a line was longer than {} bytes and was ignored", kMaxLineBytes));
}

void Server::on_line(std::string_view line) {
  if (line.find_first_not_of(" \t\r") == std::string_view::npos) return;
  if (line.size() > kMaxLineBytes)
    return on_line_too_long(line.substr(0, kSeenOfLongLine), line.substr(line.size() - kSeenOfLongLine));
  const auto value = parse_json(line);
  if (!value) return refuse(nullptr, RpcCode::ParseError, value.error().message());
  const auto* batch = value->if_array();
  if (batch == nullptr) return on_message(*value);
  if (revision_ != kBatchRevision || batch->empty())
    return refuse(nullptr, RpcCode::InvalidRequest, "a line holds one message; send each on its own line");
  on_batch(*batch);
}

void Server::on_batch(const json::array& messages) {
  const auto number = ++last_batch_;
  parsing_ = responding_ = number;
  if (messages.size() > kMaxBatch)
    refuse_all(messages);
  else
    for (const auto& message : messages) on_message(message);
  parsing_ = responding_ = 0;
  end_batch_if_done(number);
}

void Server::refuse_all(const json::array& messages) {
  const auto error = format("a batch holds {} messages at most; send fewer at once, or one by one", kMaxBatch);
  std::size_t refused = 0;
  for (const auto& message : messages) {
    const auto read = read_message(message);
    const auto* request = std::get_if<RpcRequest>(&read);
    if (request == nullptr || refused == kMaxRefusedInBatch) continue;
    refuse(request->id, RpcCode::InvalidRequest, error);
    ++refused;
  }
  if (refused == 0) refuse(nullptr, RpcCode::InvalidRequest, error);
}

void Server::end_batch_if_done(BatchNumber number) {
  if (number == 0 || number == parsing_) return;
  if (std::ranges::any_of(open_, [&](const auto& entry) { return entry.second.batch == number; })) return;
  const auto at = batches_.find(number);
  if (at == batches_.end()) return;  // notifications only, or all was cancelled
  auto batch = std::move(batches_.extract(at).mapped());
  output_(format("[{}]", batch.answers), [written = std::move(batch.written)]() mutable {
    for (auto& notify : written) notify();
  });
}

void Server::write_response(std::string line, OnWritten written) {
  if (responding_ == 0) return output_(std::move(line), std::move(written));
  auto& batch = batches_[responding_];
  batch.answers += batch.answers.empty() ? line : "," + line;
  if (written) batch.written.push_back(std::move(written));
}

void Server::on_message(const json::value& value) {
  const auto message = read_message(value);
  if (const auto* request = std::get_if<RpcRequest>(&message)) return on_request(*request);
  if (const auto* notification = std::get_if<RpcNotification>(&message)) return on_notification(*notification);
  if (const auto* problem = std::get_if<RpcError>(&message)) refuse(problem->id, problem->code, problem->message);
}

void Server::on_notification(const RpcNotification& notification) {
  if (notification.method != "notifications/cancelled") return;
  const auto* id = notification.params.if_contains("requestId");
  if (id == nullptr) return;
  const auto* open = find(*id);
  if (open == nullptr) return;  // finished already
  const auto at = std::ranges::find_if(open_, [&](const auto& entry) { return &entry.second == open; });
  const auto request_id = at->first;
  const auto kind = at->second.kind;
  const auto batch = at->second.batch;
  open_.erase(at);
  if (kind != Kind::Listen) handler_.cancel(request_id);
  end_batch_if_done(batch);
}

std::optional<Era> Server::era_of(const RpcRequest& request) {
  const auto* meta = object_member(request.params, "_meta");
  const auto* named_revision = meta != nullptr ? meta->if_contains(kRevisionKey) : nullptr;
  if (named_revision == nullptr) {
    if (!revision_.empty() || request.method == "ping") return Era::Legacy;
    refuse(request.id, request.method == "server/discover" ? RpcCode::InvalidParams : RpcCode::InvalidRequest,
           format("send initialize first, or name the revision ({}) in _meta[\"{}\"]", kModernRevision, kRevisionKey));
    return std::nullopt;
  }
  const auto* revision = named_revision->if_string();
  if (revision != nullptr && is_legacy(*revision)) return Era::Legacy;
  if (revision == nullptr || *revision != kModernRevision) {
    json::object data;
    data["supported"] = supported_revisions();
    data["requested"] = revision != nullptr ? json::value(structured(*revision)) : json::value("");
    refuse(request.id, RpcCode::UnsupportedVersion, "this revision of the protocol is not supported", std::move(data));
    return std::nullopt;
  }
  if (parsing_ != 0) {
    refuse(request.id, RpcCode::InvalidRequest,
           format("{} has no batches; send the request on a separate line", *revision));
    return std::nullopt;
  }
  if (object_member(*meta, kCapabilitiesKey) == nullptr) {
    refuse(request.id, RpcCode::InvalidParams, format("_meta must hold \"{}\", an object", kCapabilitiesKey));
    return std::nullopt;
  }
  return Era::Modern;
}

void Server::on_request(const RpcRequest& request) {
  const auto& method = request.method;
  if (find(request.id) != nullptr)
    return refuse(request.id, RpcCode::InvalidRequest, "a request with this id is still open; give each its own");
  if (method == "initialize") return initialize(request);
  const auto era = era_of(request);
  if (!era) return;
  const bool legacy = *era == Era::Legacy;
  if (method == "tools/call") return call_tool(request, *era);
  if (method == "tools/list") return answer_list(request, *era, "tools", description_.tools);
  if (method == "resources/list") return answer_list(request, *era, "resources", description_.resources);
  if (method == "resources/templates/list") return answer_list(request, *era, "resourceTemplates", {});
  if (method == "resources/read") return read_resource(request, *era);
  if (!legacy && method == "server/discover") return discover(request);
  if (!legacy && method == "subscriptions/listen") return listen(request);
  if (legacy && method == "ping") return answer(request.id, *era, {});
  if (legacy && method == "resources/subscribe") return subscribe(request, true);
  if (legacy && method == "resources/unsubscribe") return subscribe(request, false);
  refuse(request.id, RpcCode::MethodNotFound, format("unknown method {}", structured(method)));
}

void Server::initialize(const RpcRequest& request) {
  if (parsing_ != 0)
    return refuse(request.id, RpcCode::InvalidRequest,
                  "initialize cannot be part of a batch; send it first, on its own line");
  revision_ = select_revision(string_member(request.params, "protocolVersion").value_or(""));
  json::object result;
  result["protocolVersion"] = revision_;
  result["capabilities"] = capabilities();
  result["serverInfo"] = server_info(description_.version);
  result["instructions"] = description_.instructions;
  answer(request.id, Era::Legacy, std::move(result));
}

void Server::discover(const RpcRequest& request) {
  json::object result;
  result["supportedVersions"] = supported_revisions();
  result["capabilities"] = capabilities();
  result["instructions"] = description_.instructions;
  make_cacheable(result, kListTtlMs);
  answer(request.id, Era::Modern, std::move(result));
}

void Server::answer_list(const RpcRequest& request, Era era, std::string_view member, const json::array& list) {
  if (const auto cursor = string_member(request.params, "cursor"); cursor && !cursor->empty())
    return refuse(request.id, RpcCode::InvalidParams, "the list has one page only; omit \"cursor\"");
  json::object result;
  result[member] = list;
  if (era == Era::Modern) make_cacheable(result, kListTtlMs);
  answer(request.id, era, std::move(result));
}

RequestId Server::open_request(const RpcRequest& request, Kind kind, Era era) {
  if (open_.size() >= kMaxOpenRequests) {
    refuse(request.id, RpcCode::Busy, format("{} requests are open already; wait for one to end", kMaxOpenRequests));
    return 0;
  }
  open_.emplace(++last_request_id_, Open{.id = request.id, .kind = kind, .era = era, .batch = parsing_});
  return last_request_id_;
}

void Server::call_tool(const RpcRequest& request, Era era) {
  const auto name = string_member(request.params, "name");
  if (!name) return refuse(request.id, RpcCode::InvalidParams, "tools/call needs \"name\"");
  const bool is_tool = std::ranges::any_of(
      description_.tools, [&](const json::value& tool) { return string_member(tool.get_object(), "name") == *name; });
  if (!is_tool) return refuse(request.id, RpcCode::InvalidParams, format("unknown tool {}", structured(*name)));
  json::object arguments;
  if (const auto* given = request.params.if_contains("arguments"); given != nullptr && !given->is_null()) {
    if (!given->is_object()) return refuse(request.id, RpcCode::InvalidParams, "\"arguments\" must be an object");
    arguments = given->get_object();
  }
  const auto request_id = open_request(request, Kind::Tool, era);
  if (request_id == 0) return;
  auto token = progress_token(request.params);
  const bool wants_progress = !token.is_null();
  open_.at(request_id).progress_token = std::move(token);
  handler_.call(request_id, *name, arguments, wants_progress);
}

void Server::read_resource(const RpcRequest& request, Era era) {
  const auto uri = string_member(request.params, "uri");
  if (!uri) return refuse(request.id, RpcCode::InvalidParams, "resources/read needs \"uri\"");
  if (!has_resource(*uri))
    return refuse(request.id, era == Era::Legacy ? RpcCode::ResourceNotFound : RpcCode::InvalidParams,
                  format("unknown resource {}", structured(*uri)));
  const auto request_id = open_request(request, Kind::Resource, era);
  if (request_id == 0) return;
  open_.at(request_id).uri = *uri;
  handler_.read(request_id, *uri);
}

void Server::subscribe(const RpcRequest& request, bool wanted) {
  const auto uri = string_member(request.params, "uri");
  if (!uri) return refuse(request.id, RpcCode::InvalidParams, format("{} needs \"uri\"", request.method));
  if (!has_resource(*uri))
    return refuse(request.id, RpcCode::ResourceNotFound, format("unknown resource {}", structured(*uri)));
  if (wanted && !description_.subscribable.contains(*uri))
    return refuse(request.id, RpcCode::InvalidParams,
                  format("changes of {} are not announced; read it when you need it", structured(*uri)));
  if (wanted)
    subscribed_.insert(*uri);
  else
    subscribed_.erase(*uri);
  answer(request.id, Era::Legacy, {});
}

void Server::listen(const RpcRequest& request) {
  const auto* filter = object_member(request.params, "notifications");
  if (filter == nullptr)
    return refuse(request.id, RpcCode::InvalidParams, "subscriptions/listen needs \"notifications\", an object");
  std::set<std::string, std::less<>> uris;
  if (const auto* wanted = array_member(*filter, "resourceSubscriptions"))
    for (const auto& uri : *wanted)
      if (const auto* text = uri.if_string(); text != nullptr && description_.subscribable.contains(*text))
        uris.emplace(*text);
  const auto request_id = open_request(request, Kind::Listen, Era::Modern);
  if (request_id == 0) return;
  json::object honoured, params, meta;
  if (!uris.empty()) honoured["resourceSubscriptions"] = json::array(uris.begin(), uris.end());
  meta[kSubscriptionKey] = request.id;
  params["notifications"] = std::move(honoured);
  params["_meta"] = std::move(meta);
  open_.at(request_id).uris = std::move(uris);
  output_(notification_line("notifications/subscriptions/acknowledged", std::move(params)), {});
}

void Server::resource_changed(std::string_view uri) {
  if (subscribed_.contains(uri)) output_(updated_line(uri, {}), {});
  for (const auto& [request_id, open] : open_) {
    if (!open.uris.contains(uri)) continue;
    json::object meta;
    meta[kSubscriptionKey] = open.id;
    output_(updated_line(uri, std::move(meta)), {});
  }
}

void Server::progress(RequestId request_id, std::int64_t done, std::int64_t total, std::string_view message) {
  const auto at = open_.find(request_id);
  if (at == open_.end() || at->second.progress_token.is_null()) return;
  json::object params;
  params["progressToken"] = at->second.progress_token;
  params["progress"] = done;
  params["total"] = total;
  if (revision_ != kLegacyRevisions.front()) params["message"] = message;
  output_(notification_line("notifications/progress", std::move(params)), {});
}

void Server::finish(RequestId request_id, ToolResult result, OnWritten written) {
  const auto at = open_.find(request_id);
  if (at == open_.end()) return;
  json::object block, answer;
  block["type"] = "text";
  block["text"] = std::move(result.text);
  answer["content"] = json::array{std::move(block)};
  if (!result.structured.empty()) answer["structuredContent"] = std::move(result.structured);
  answer["isError"] = result.failed;
  const auto open = std::move(open_.extract(at).mapped());
  complete(open, std::move(answer), std::move(written));
}

void Server::finish_reading(RequestId request_id, Result<json::object> content) {
  const auto at = open_.find(request_id);
  if (at == open_.end()) return;
  const auto open = std::move(open_.extract(at).mapped());
  if (!content) return complete(open, Failure{content.error()});
  json::object block, answer;
  block["uri"] = open.uri;
  block["mimeType"] = "application/json";
  block["text"] = json::serialize(*content);
  answer["contents"] = json::array{std::move(block)};
  if (open.era == Era::Modern) make_cacheable(answer, 0);
  complete(open, std::move(answer));
}

void Server::close() {
  for (auto at = open_.begin(); at != open_.end();) {
    if (at->second.kind != Kind::Listen) {
      ++at;
      continue;
    }
    json::object result, meta;
    meta[kSubscriptionKey] = at->second.id;
    result["_meta"] = std::move(meta);
    const auto open = std::move(at->second);
    at = open_.erase(at);
    complete(open, std::move(result));
  }
}

void Server::complete(const Open& open, Result<json::object> result, OnWritten written) {
  const auto before = std::exchange(responding_, open.batch);
  if (result)
    answer(open.id, open.era, *std::move(result), std::move(written));
  else
    refuse(open.id, RpcCode::Internal, result.error().message());
  responding_ = before;
  end_batch_if_done(open.batch);
}

void Server::answer(const json::value& id, Era era, json::object result, OnWritten written) {
  if (era == Era::Modern) {
    result["resultType"] = "complete";
    auto& meta = result["_meta"];
    if (!meta.is_object()) meta = json::object{};
    meta.get_object()[kServerInfoKey] = server_info(description_.version);
  }
  write_response(result_line(id, std::move(result)), std::move(written));
}

void Server::refuse(const json::value& id, RpcCode code, std::string_view message, json::object data) {
  write_response(error_line(id, code, message, std::move(data)));
}

bool Server::has_resource(std::string_view uri) const {
  return std::ranges::any_of(description_.resources, [&](const json::value& resource) {
    return string_member(resource.get_object(), "uri") == uri;
  });
}

const Server::Open* Server::find(const json::value& id) const {
  for (const auto& [request_id, open] : open_)
    if (open.id.kind() == id.kind() && open.id == id) return &open;
  return nullptr;
}

}  // namespace relay::mcp
