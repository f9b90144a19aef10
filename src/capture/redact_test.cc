#include "capture/redact.h"

#include <gtest/gtest.h>

#include "base/format.h"

namespace relay::capture {
namespace {

// Assembled here, so that no tool takes this file for a leak.
const std::string kAlphabet = "Abc123Def456Ghi789Jkl012Mno345Pqr678Stu9";

struct Row {
  std::string text;
  std::string secret;
  std::string kind;
};

std::vector<Row> secrets() {
  const std::string hex = "0123456789abcdef0123456789abcdef0123456789abcdef";
  const std::string jwt = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0." + kAlphabet;
  const std::string pem =
      "-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXk\nAAAA\n-----END OPENSSH PRIVATE KEY-----";
  std::vector<Row> rows;
  for (const auto& [secret, kind] : std::vector<std::pair<std::string, std::string>>{
           {"sk-ant-" + ("api03-" + kAlphabet), "anthropic"},
           {"sk-" + ("proj-" + kAlphabet), "openai"},
           {"sk-" + kAlphabet, "openai"},
           {"sk_" + ("live_" + kAlphabet), "stripe"},
           {"ghp_" + kAlphabet, "github"},
           {"gho_" + kAlphabet, "github"},
           {"github_pat_" + kAlphabet, "github"},
           {"glpat-" + kAlphabet.substr(0, 20), "gitlab"},
           {"AKIA" + std::string{"IOSFODNN7EXAMPLE"}, "aws"},
           {"xoxb-" + kAlphabet, "slack"},
           {"xapp-" + kAlphabet, "slack"},
           {"AIza" + kAlphabet.substr(0, 35), "google"},
           {"ya29." + kAlphabet, "google"},
           {"npm_" + kAlphabet.substr(0, 36), "npm"},
           {"hf_" + kAlphabet.substr(0, 34), "huggingface"},
           {"dop_v1_" + hex, "digitalocean"},
           {"SG." + kAlphabet + "." + kAlphabet, "sendgrid"},
           {"hvs." + kAlphabet, "vault"},
           {"AGE-SECRET-KEY-1" + std::string{"QQQQQQQQQQQQQQQQQQQQQQQQ"}, "age"},
           {jwt, "jwt"},
           {pem, "private-key"},
       }) {
    rows.push_back({"export X; echo " + secret + " | cat", secret, kind});
    rows.push_back({"(" + secret + ")", secret, kind});
    rows.push_back({secret, secret, kind});
  }
  rows.push_back({"curl -H 'Authorization: Bearer abcdefghijk' x", "abcdefghijk", "authorization"});
  rows.push_back({R"(curl -H \"Authorization: Basic dXNlcjpwYXNz\" x)", "dXNlcjpwYXNz", "authorization"});
  rows.push_back({"it sent bearer " + kAlphabet, kAlphabet, "bearer"});
  rows.push_back({"psql postgres://bob:hunter22@db/x", "hunter22", "password"});
  rows.push_back({"curl -u bob:hunter22 http://x", "hunter22", "password"});
  rows.push_back({"DB_PASSWORD=hunter ./run", "hunter", "assigned"});
  rows.push_back({"AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI/K7MDENG", "wJalrXUtnFEMI/K7MDENG", "assigned"});
  rows.push_back({"http://x/?token=abcdefgh&page=2", "abcdefgh", "assigned"});
  rows.push_back({R"("api_key": "correcthorse")", "correcthorse", "assigned"});
  rows.push_back({R"({\"password\":\"correcthorse\"})", "correcthorse", "assigned"});
  rows.push_back({"password: hunter22x", "hunter22x", "assigned"});
  rows.push_back({"login --password correcthorse now", "correcthorse", "assigned"});
  return rows;
}

TEST(Redact, RemovesEverySecretAndKeepsTheRest) {
  for (const auto& row : secrets()) {
    const auto clean = redact(row.text);
    EXPECT_EQ(clean.find(row.secret), std::string::npos) << row.text;
    EXPECT_NE(clean.find("[redacted:" + row.kind + "]"), std::string::npos) << row.text << " -> " << clean;
    const auto before = row.text.substr(0, row.text.find(row.secret));
    EXPECT_TRUE(clean.starts_with(before) || row.kind == "authorization") << row.text << " -> " << clean;
  }
}

TEST(Redact, IsIdempotent) {
  for (const auto& row : secrets()) EXPECT_EQ(redact(redact(row.text)), redact(row.text));
}

TEST(Redact, FindsSecretsAmongOthers) {
  std::string all;
  for (const auto& row : secrets()) all += row.text + "\n";
  const auto clean = redact(all);
  for (const auto& row : secrets()) EXPECT_EQ(clean.find(row.secret), std::string::npos) << row.text;
}

TEST(Redact, KeepsOrdinaryText) {
  for (const auto* text : {
           "",
           "please greet bob",
           "curl -s http://127.0.0.1:9/deploy; echo deploy-finished",
           "input_tokens: 21378, output_tokens=812",
           "the token: please use the new one",
           "token = next_token(stream)",
           "password=$PASSWORD ./run",
           "--token-file path",
           "task-management-is-a-very-long-name-with-words",
           "sk-learn-is-a-library-with-a-name",
           "git@github.com:owner/repository.git",
           "http://localhost:8080/path?page=2",
           "docker run -u 1000:1000 image",
           "basic authentication is used here",
           "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----",
           "-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----",
           "@relay:Bob the secret of good soup is time",
       })
    EXPECT_EQ(redact(text), text);
}

TEST(Redact, RedactsTruncatedKey) {
  EXPECT_EQ(redact("x -----BEGIN RSA PRIVATE KEY-----\nMIIE"), "x [redacted:private-key]");
}

TEST(Redact, AcceptsAnyBytes) {
  const std::string odd = std::string{"\xFF\0\xC3", 3} + " password=\xFF\xFE\xFD\xFC!";
  EXPECT_NE(redact(odd).find("[redacted:assigned]"), std::string::npos);
}

TEST(Redact, RedactsJsonValuesByNameAndShape) {
  json::value value = json::object{{"command", "TOKEN=abcdefgh run"},
                                   {"env", json::object{{"API_KEY", "short"}, {"input_tokens", "many"}}},
                                   {"Authorization", json::array{"one", "two"}},
                                   {"list", json::array{1, "ghp_" + kAlphabet}}};
  redact(value);
  EXPECT_EQ(json::serialize(value),
            R"({"command":"TOKEN=[redacted:assigned] run","env":{"API_KEY":"[redacted:named]","input_tokens":"many"},)"
            R"("Authorization":["[redacted:named]","[redacted:named]"],"list":[1,"[redacted:github]"]})");
}

}  // namespace
}  // namespace relay::capture
