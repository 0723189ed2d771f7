#include "pass/plan/syntax/parser.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <filesystem>

#include "fx/syntax/lexer.h"
#include "pass/plan/syntax/built_pattern.h"
#include "pass/plan/syntax/check.h"
#include "pass/plan/syntax/statement.h"

namespace passnet::pass {

SourceLoc PlanProgram::locate(uint32_t offset) const {
  const auto after = std::upper_bound(line_starts.begin(), line_starts.end(), offset);
  const auto line = static_cast<uint32_t>(after - line_starts.begin());
  return {file, line, offset - line_starts[line - 1] + 1};
}

const Function* PlanProgram::find_function(std::string_view wanted) const {
  const auto found = std::find_if(functions.rbegin(), functions.rend(), [&](const Function& function) {
    return function.name == wanted && function.outer == nullptr;
  });
  return found == functions.rend() ? nullptr : &*found;
}

namespace {

/// Errors: BadPass for a name so long that looking for it takes more than a step.
Result<void> check_words(const PlanProgram& program) {
  const auto is_part = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; };
  const std::string& text = *program.text;
  for (auto at = text.begin(); at != text.end();) {
    const auto first = std::find_if(at, text.end(), is_part);
    at = std::find_if_not(first, text.end(), is_part);
    if (at - first > static_cast<ptrdiff_t>(kMaxStringBytes))
      return bad_pass(fmt::format("name too long: found {} bytes, expected at most {}", at - first, kMaxStringBytes),
                      program.locate(static_cast<uint32_t>(first - text.begin())));
  }
  return {};
}

}  // namespace

Result<std::shared_ptr<const PlanProgram>> parse_pass_file(std::string file, std::shared_ptr<const std::string> text) {
  if (text->size() > kMaxPassBytes) {
    return bad_pass(
        fmt::format("pass file too large: found {} bytes, expected at most {}", text->size(), kMaxPassBytes),
        SourceLoc{std::move(file)});
  }
  auto program = std::make_shared<PlanProgram>();
  program->file = std::move(file);
  program->name = std::filesystem::path(program->file).stem().string();
  program->text = std::move(text);
  program->line_starts = {0};
  for (size_t at = program->text->find('\n'); at != std::string::npos; at = program->text->find('\n', at + 1)) {
    program->line_starts.push_back(static_cast<uint32_t>(at + 1));
  }
  PASSNET_TRY_VOID(check_words(*program));
  fx::Lexer lexer(program->file, *program->text, program->text->starts_with("\xef\xbb\xbf") ? 3 : 0);
  StatementReader reader(lexer, *program);
  program->body = reader.file();
  if (lexer.failed()) {
    Error error = lexer.take_error();
    error.kind = Error::Kind::BadPass;
    return error;
  }
  note_built_graphs(*program);
  collect_assigned(program->body, program->names);
  program->names.insert({"__name__", "__file__"});
  return std::shared_ptr<const PlanProgram>(std::move(program));
}

}  // namespace passnet::pass
