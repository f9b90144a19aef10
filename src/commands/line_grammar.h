/// The grammar of relay commands, line by line.
///
/// Why lines: a command starts only at the start of a line, so splitting the bytes cannot change the meaning.
/// States: listening; inside fenced code; inside a <thinking> tag; in a message that may continue; in a `<<<` body; in
///   a block. Code and thinking contain no commands.
/// Invariants: every line is read once (twice after a block that was never closed), so time is linear; memory is
///   bounded by the options; no command is dropped without an error: one that was not sent is a CommandError.
/// Threading: one thread, no I/O, no clock.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "commands/address.h"
#include "commands/code_fence.h"
#include "commands/command.h"
#include "commands/grammar_options.h"
#include "commands/message_body.h"
#include "commands/open_command.h"
#include "commands/prefix_table.h"

namespace relay::commands {

/// One line without its line end.
struct Line {
  std::string_view text = {};
  std::uint64_t offset = 0;  // in the whole text
  std::uint64_t number = 1;  // from 1
  bool cut = false;          // it was longer than kMaxLineBytes
  bool may_hold_trigger = true;
};

class LineGrammar {
 public:
  explicit LineGrammar(GrammarOptions options);

  void take(const Line& line) {
    if (plain_lines_pass(line) && !prefixes_.may_matter(line.text)) return;
    take_any(line);
  }

  /// The output is idle: completes a message that could continue. Code, blocks and bodies stay open.
  void flush() {
    if (std::holds_alternative<InMessage>(state_)) end_message();
  }

  /// The text has ended: closes all open parts and starts again.
  void finish();

  std::vector<Command> take_commands() { return std::exchange(commands_, {}); }
  [[nodiscard]] const PrefixTable& prefixes() const { return prefixes_; }

 private:
  /// Commands ignored because of their position; reported only if that part is never closed.
  struct Hidden {
    SourceLocation opened = {};
    std::size_t commands = 0;
  };
  struct Listening {};
  struct InCode {
    CodeFence fence;
    Hidden hidden = {};
  };
  struct InThinking {
    Hidden hidden = {};
  };
  struct InMessage {
    OpenCommand line;
  };
  struct InBody {
    std::variant<SendCommand, SpawnCommand> whose;
    std::string rejection = {};  // why it is not sent; empty: it is sent
    MessageBody body;
  };
  struct InBlock {
    Opener opener;
    SourceLocation location = {};
    std::string text = {};
    struct Held {
      std::size_t start;
      Line line;  // its text is in `text`
    };
    std::vector<Held> lines = {};  // all but the first, to be read again if the block is never closed
  };
  using State = std::variant<Listening, InCode, InThinking, InMessage, InBody, InBlock>;

  /// Does this state ignore an ordinary line? Most lines end here.
  [[nodiscard]] bool plain_lines_pass(const Line& line) const {
    if (std::holds_alternative<Listening>(state_)) return !line.may_hold_trigger;
    const auto* code = std::get_if<InCode>(&state_);
    return code != nullptr && code->fence.quote_depth == 0;
  }
  void take_any(const Line& line);
  /// Each returns whether it consumed the line; if not, the state has changed and the line is read again.
  bool on(Listening&, const Line& line);
  bool on(InCode& code, const Line& line);
  bool on(InThinking& thinking, const Line& line);
  bool on(InMessage& message, const Line& line);
  bool on(InBody& body, const Line& line);
  bool on(InBlock& block, const Line& line);

  void start_message(const Opening& opening, const Line& line);
  void take_topic_change(const Opening& opening, const Line& line, const Address& address);
  void start_worker(const Opening& opening, const Line& line, const Address& address);
  void start_body(std::variant<SendCommand, SpawnCommand> command, std::string rejection, std::string_view opens,
                  const Opening& opening, const Line& line);
  void start_blocks(std::string_view text, const Line& line);
  void read_one_block(Opener opener, std::string_view text, const SourceLocation& location);
  void abandon_block(std::string_view reason);
  void end_message();
  enum class BodyEnd : std::uint8_t { Marked, Missing };
  void end_body(BodyEnd how);
  void take_rest(const Line& line, std::string_view rest);
  void report_hidden(const Hidden& hidden, std::string_view where);

  [[nodiscard]] bool is_command(std::string_view line) const;
  [[nodiscard]] std::string rejection_reason(const Address& address) const;
  void report_error(const SourceLocation& location, std::string reason, std::string usage);

  GrammarOptions options_;
  PrefixTable prefixes_;
  State state_;
  std::optional<MessageMetadata> metadata_;  // from a metadata block, for the next block
  std::vector<Command> commands_;
};

}  // namespace relay::commands
