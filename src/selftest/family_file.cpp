#include "selftest/family_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <span>
#include <utility>

#include "base/json/json.h"
#include "base/text/parse_number.h"
#include "base/text/strings.h"
#include "pass/source.h"
#include "selftest/block_text.h"

namespace passnet::selftest {

namespace {

constexpr std::string_view kKeys[] = {"rows",   "what",      "graph",         "verdict",  "layers", "reason",
                                      "device", "timeout_s", "allow_library", "host",     "plan",   "kernel",
                                      "list",   "bundle",    "special",       "host_code"};

using Fields = std::span<const TextField>;

bool may_repeat(std::string_view key) { return key == "host" || key == "kernel" || key == "special"; }
bool takes_text(std::string_view key) { return key == "host" || key == "kernel" || key == "plan" || key == "list"; }

/// Errors: BadInput at a field that is unknown, stands twice, or has a text where none belongs or none where one does.
Result<void> check_fields(Fields fields) {
  for (size_t i = 0; i < fields.size(); ++i) {
    const TextField& field = fields[i];
    if (std::ranges::find(kKeys, field.key) == std::end(kKeys)) {
      const std::string_view near = nearest_name(field.key, kKeys);
      return bad_input(fmt::format("unknown field {}", quoted(field.key)), field.at)
          .with_hint(near.empty() ? "src/selftest/family_file.h lists the fields"
                                  : fmt::format("did you mean {}?", quoted(near)));
    }
    const bool is_none = field.key == "kernel" && field.value.empty() && !field.text;
    if (takes_text(field.key) && !field.text && !is_none)
      return bad_input(fmt::format("field '{}' has no text, expected lines below it that begin with '|'", field.key),
                       field.at);
    if (!takes_text(field.key) && field.text)
      return bad_input(fmt::format("field '{}' has a text, expected only a value", field.key), field.at);
    const auto first = std::ranges::find(fields.first(i), field.key, &TextField::key);
    if (!may_repeat(field.key) && first != fields.first(i).end())
      return bad_input(fmt::format("field '{}' stands here again, first on line {}", field.key, first->at.line),
                       field.at);
  }
  return {};
}

Error expected_instead(const TextField& field, std::string_view expected, std::string_view found) {
  return bad_input(fmt::format("field '{}': expected {}, found {}", field.key, expected, quoted(found)),
                   field.value_at);
}

std::vector<std::string> items_of(const TextField& field) {
  std::vector<std::string> items;
  if (field.value.empty()) return items;
  for (const std::string_view item : split(field.value, ',')) items.emplace_back(trim(item));
  return items;
}

template <class T>
Result<T> number_of(const TextField& field, std::string_view text, std::string_view expected) {
  const std::optional<T> value = parse_number<T>(text);
  if (!value || *value <= 0) return expected_instead(field, expected, text);
  return *value;
}

Result<void> read_value(const TextField& field, Expectation& expected) {
  expected.places[field.key] = field.value_at;
  if (field.key == "rows") {
    expected.rows.clear();
    for (const std::string& item : items_of(field)) {
      PASSNET_TRY(expected.rows.emplace_back(), number_of<int>(field, item, "integers > 0"));
    }
  } else if (field.key == "what") {
    expected.what = field.value;
  } else if (field.key == "graph") {
    expected.graph = field.value;
  } else if (field.key == "verdict") {
    expected.verdict = items_of(field);
  } else if (field.key == "layers") {
    expected.layers = items_of(field);
  } else if (field.key == "reason") {
    expected.reason = field.value;
  } else if (field.key == "device") {
    expected.device = field.value;
  } else if (field.key == "host_code") {
    if (field.value != "python") return expected_instead(field, "'python'", field.value);
    expected.host_code = field.value;
  } else if (field.key == "timeout_s") {
    PASSNET_TRY(expected.timeout_s, number_of<double>(field, field.value, "a number > 0"));
  } else if (field.key == "allow_library") {
    if (field.value != "true" && field.value != "false")
      return expected_instead(field, "'true' or 'false'", field.value);
    expected.allow_library = field.value == "true";
  }
  return {};
}

/// Files of the bundle, or else of the head.
std::vector<const TextField*> files_of(std::string_view key, Fields head, Fields own) {
  std::vector<const TextField*> files;
  for (const Fields fields : {own, head}) {
    for (const TextField& field : fields) {
      if (field.key == key) files.push_back(&field);
    }
    if (!files.empty()) break;
  }
  return files;
}

const TextField* field_of(std::string_view key, Fields head, Fields own) {
  const std::vector<const TextField*> found = files_of(key, head, own);
  return found.empty() ? nullptr : found.front();
}

Result<void> check_file_name(const TextField& field, std::span<const std::string_view> extensions) {
  for (const std::string_view extension : extensions) {
    const std::string_view name = field.value;
    if (name.ends_with(extension) && is_identifier(name.substr(0, name.size() - extension.size()))) return {};
  }
  std::vector<std::string> forms;
  for (const std::string_view extension : extensions) forms.push_back(fmt::format("'NAME{}'", extension));
  return expected_instead(field, join(forms, " or "), field.value);
}

/// The host code with the lines of `plan` in the place of its line "@".
Result<std::string> fill_in(const TextField& host, const TextField* plan) {
  std::string filled;
  bool found = false;
  for (std::string_view rest = *host.text; !rest.empty();) {
    const size_t end = std::min(rest.find('\n'), rest.size() - 1) + 1;
    const std::string_view line = rest.substr(0, end);
    rest.remove_prefix(end);
    if (trim(line) != "@") {
      filled += line;
      continue;
    }
    if (plan == nullptr) return bad_input("the host code has a line '@', expected a field 'plan'", host.at);
    found = true;
    const std::string_view indent = line.substr(0, line.find('@'));
    std::vector<std::string_view> lines = split(*plan->text, '\n');
    if (lines.back().empty()) lines.pop_back();
    for (const std::string_view of_plan : lines) {
      if (!of_plan.empty()) filled += indent;
      filled += of_plan;
      filled += '\n';
    }
  }
  if (plan != nullptr && !found) return bad_input("the host code has no line '@' for this field", plan->at);
  return filled;
}

Result<std::vector<FileText>> read_pass_dir(Fields head, Fields own, const TextField& bundle) {
  std::vector<FileText> files;
  Json names = Json::array();
  const std::vector<const TextField*> hosts = files_of("host", head, own);
  if (hosts.empty()) return bad_input(fmt::format("bundle {} has no field 'host'", quoted(bundle.value)), bundle.at);
  const bool is_own = std::ranges::find(own, "host", &TextField::key) != own.end();
  const TextField* const plan = field_of("plan", is_own ? Fields() : head, own);
  for (const TextField* const host : hosts) {
    PASSNET_TRY_VOID(check_file_name(*host, std::vector<std::string_view>{".py"}));
    PASSNET_TRY(std::string text, fill_in(*host, plan));
    files.push_back({host->value, std::move(text)});
    names.push_back(host->value.substr(0, host->value.size() - 3));
  }
  for (const TextField* const kernel : files_of("kernel", head, own)) {
    if (!kernel->text) continue;
    PASSNET_TRY_VOID(check_file_name(*kernel, std::vector<std::string_view>{".cpp", ".cu"}));
    files.push_back({kernel->value, *kernel->text});
  }
  const TextField* const list = field_of("list", head, own);
  files.push_back({std::string(pass::kListFile), list != nullptr ? *list->text : dump(names) + "\n"});
  return files;
}

/// Names of directories with "/" between them.
bool is_bundle_name(std::string_view name) {
  return std::ranges::all_of(split(name, '/'), [](std::string_view part) { return is_identifier(part); });
}

Result<BundleText> read_bundle(Fields head, Fields own) {
  const TextField& name = own.front();
  PASSNET_TRY_VOID(check_fields(own));
  if (!is_bundle_name(name.value)) return expected_instead(name, "letters, digits, '_' and '/'", name.value);
  BundleText bundle;
  bundle.name = name.value;
  bundle.expected.at = name.at;
  for (const Fields fields : {head, own}) {
    for (const TextField& field : fields) PASSNET_TRY_VOID(read_value(field, bundle.expected));
  }
  for (const char* needed : {"what", "graph", "verdict"}) {
    if (!bundle.expected.places.contains(needed))
      return bad_input(fmt::format("bundle {} has no field '{}'", quoted(name.value), needed), name.at);
  }
  PASSNET_TRY(bundle.pass_dir, read_pass_dir(head, own, name));
  for (const TextField* const field : files_of("special", head, own)) {
    PASSNET_TRY(bundle.specials.emplace_back(), parse_special(*field));
  }
  return bundle;
}

}  // namespace

Result<std::vector<BundleText>> parse_family(std::string_view text, const std::string& file) {
  PASSNET_TRY(const std::vector<TextField> fields, parse_block_text(text, file));
  std::vector<size_t> starts;
  for (size_t i = 0; i < fields.size(); ++i) {
    if (fields[i].key == "bundle") starts.push_back(i);
  }
  const Fields all(fields);
  const Fields head = all.first(starts.empty() ? all.size() : starts.front());
  PASSNET_TRY_VOID(check_fields(head));
  std::vector<BundleText> bundles;
  for (size_t i = 0; i < starts.size(); ++i) {
    const size_t end = i + 1 < starts.size() ? starts[i + 1] : all.size();
    PASSNET_TRY(BundleText bundle, read_bundle(head, all.subspan(starts[i], end - starts[i])));
    bundles.push_back(std::move(bundle));
  }
  return bundles;
}

}  // namespace passnet::selftest
