#include "api/http_client.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>

#include "base/format.h"
#include "base/unique_fd.h"
#include "net/server_request.h"

namespace relay::api_tests {
namespace {

constexpr int kTimeoutMs = 40'000;

}  // namespace

std::string HttpResponse::code() const {
  const auto whole = object();
  const auto* error = object_member(whole, "error");
  return error == nullptr ? "" : string_member(*error, "code").value_or("");
}

HttpClient::HttpClient(const std::string& url) : port_{std::stoi(url.substr(url.rfind(':') + 1))} {}

std::string HttpClient::raw(std::string_view bytes) const {
  const UniqueFd fd{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port_));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) return {};
  while (!bytes.empty()) {
    const auto count = ::send(fd.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (count <= 0) break;
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
  std::string output;
  std::array<char, 16 * 1024> buffer{};
  for (;;) {
    pollfd ready{fd.get(), POLLIN, 0};
    if (::poll(&ready, 1, kTimeoutMs) <= 0) return output;
    const auto count = ::recv(fd.get(), buffer.data(), buffer.size(), 0);
    if (count <= 0) return output;
    output.append(buffer.data(), static_cast<std::size_t>(count));
  }
}

HttpResponse HttpClient::request(const std::string& method, const std::string& target, const std::string& body,
                                 const Headers& more) const {
  Headers headers = {{"Host", format("127.0.0.1:{}", port_)}, {"Connection", "close"}};
  if (!body.empty()) headers.emplace_back("Content-Type", "application/json");
  for (const auto& [name, value] : more) {
    std::erase_if(headers, [&](const auto& header) { return net::equals_ignore_case(header.first, name); });
    headers.emplace_back(name, value);
  }
  auto request = format("{} {} HTTP/1.1\r\n", method, target);
  for (const auto& [name, value] : headers) request += format("{}: {}\r\n", name, value);
  if (!body.empty()) request += format("Content-Length: {}\r\n", body.size());
  const auto output = raw(request + "\r\n" + body);
  HttpResponse response;
  const auto end = std::min(output.find("\r\n\r\n"), output.size());
  response.head = output.substr(0, end);
  response.body = output.substr(std::min(end + 4, output.size()));
  if (response.head.size() > 12) response.status = std::stoi(response.head.substr(9, 3));
  return response;
}

}  // namespace relay::api_tests
