#include "http/request.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/hash.h"
#include "base/json/json_scan.h"
#include "base/text/parse_number.h"
#include "base/text/strings.h"

namespace passnet::http {

namespace {

constexpr size_t kMostFields = 100;
constexpr std::string_view kLineEnd = "\r\n";

using Refused = tl::unexpected<Refusal>;
Refused refused(int status, std::string why) { return Refused(Refusal{status, std::move(why)}); }

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

std::string lower(std::string_view text) {
  std::string small(text);
  std::ranges::transform(small, small.begin(), [](char c) { return lower(c); });
  return small;
}

/// RFC 9110, 5.6.2.
bool is_token(std::string_view text) {
  static constexpr std::string_view kMarks = "!#$%&'*+-.^_`|~";
  return !text.empty() && std::ranges::all_of(text, [](char c) {
    return is_digit(c) || (lower(c) >= 'a' && lower(c) <= 'z') || kMarks.find(c) != std::string_view::npos;
  });
}

bool is_visible(char c) { return c > 0x20 && c < 0x7F; }

/// The line at the front, which is taken off.
std::optional<std::string_view> take_line(std::string_view& text) {
  const size_t end = text.find(kLineEnd);
  if (end == std::string_view::npos) return std::nullopt;
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(end + kLineEnd.size());
  // Bytes of text in values are allowed; line ends, which others may take for such, and other control characters are not.
  const bool printable =
      std::ranges::all_of(line, [](unsigned char c) { return (c >= 0x20 && c != 0x7F) || c == '\t'; });
  return printable ? std::optional(line) : std::nullopt;
}

/// The fields that count. Twice the same is refused, as others might take the other one.
struct Fields {
  std::optional<std::string_view> host, origin, length, transfer, encoding, connection, expect, authorization;

  std::optional<std::string_view>* named(const std::string& name) {
    if (name == "host") return &host;
    if (name == "origin") return &origin;
    if (name == "content-length") return &length;
    if (name == "transfer-encoding") return &transfer;
    if (name == "content-encoding") return &encoding;
    if (name == "connection") return &connection;
    if (name == "expect") return &expect;
    if (name == "authorization") return &authorization;
    return nullptr;
  }
};

tl::expected<Fields, Refusal> parse_fields(std::string_view text) {
  Fields fields;
  for (size_t count = 0;; ++count) {
    const std::optional<std::string_view> line = take_line(text);
    if (!line) return refused(400, "a header is not ended by \\r\\n, or holds control characters");
    if (line->empty()) return text.empty() ? tl::expected<Fields, Refusal>(fields) : refused(400, "no head");
    if (count == kMostFields) return refused(431, fmt::format("more than {} headers", kMostFields));
    const size_t colon = line->find(':');
    const std::string_view name = line->substr(0, colon);
    if (colon == std::string_view::npos || !is_token(name)) return refused(400, "a header is not NAME: VALUE");
    std::optional<std::string_view>* const field = fields.named(lower(name));
    if (field == nullptr) continue;
    if (*field) return refused(400, fmt::format("two headers {}", lower(name)));
    *field = trim(line->substr(colon + 1));
  }
}

/// "POST /mcp HTTP/1.1"
tl::expected<Head, Refusal> parse_request_line(std::string_view line) {
  const size_t first = line.find(' '), last = line.rfind(' ');
  if (first == std::string_view::npos || first == last || !is_token(line.substr(0, first)))
    return refused(400, "no request of HTTP, expected METHOD PATH HTTP/1.1");
  const std::string_view target = line.substr(first + 1, last - first - 1), version = line.substr(last + 1);
  if (version != "HTTP/1.1" && version != "HTTP/1.0") return refused(505, "expected HTTP/1.1 or HTTP/1.0");
  if (!target.starts_with('/') || !std::ranges::all_of(target, is_visible))
    return refused(400, "expected a path of printable ASCII that begins with /");
  Head head;
  head.method = line.substr(0, first);
  const size_t mark = std::min(target.find('?'), target.size());
  head.path = target.substr(0, mark);
  head.query = target.substr(std::min(mark + 1, target.size()));
  head.keep_alive = version == "HTTP/1.1";
  return head;
}

/// Words separated by commas.
bool has_word(std::string_view list, std::string_view word) {
  return std::ranges::any_of(split(list, ','), [&](std::string_view one) { return lower(trim(one)) == word; });
}

/// Empty where the text is no Base64.
std::string decode_base64(std::string_view text) {
  constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string decoded;
  uint32_t bits = 0;
  int count = 0;
  for (const char c : text.substr(0, text.find('='))) {
    const size_t digit = kDigits.find(c);
    if (digit == std::string_view::npos) return {};
    bits = bits << 6 | static_cast<uint32_t>(digit);
    count += 6;
    if (count < 8) continue;
    count -= 8;
    decoded += static_cast<char>(bits >> count & 0xFF);
  }
  return decoded;
}

/// The token of "Bearer TOKEN", or of "Basic" with any name, which browsers ask for.
std::string token_in(std::string_view authorization) {
  const size_t space = std::min(authorization.find(' '), authorization.size());
  const std::string scheme = lower(authorization.substr(0, space));
  const std::string_view rest = trim(authorization.substr(space));
  if (scheme == "bearer") return std::string(rest);
  if (scheme != "basic") return {};
  const std::string both = decode_base64(rest);
  const size_t colon = both.find(':');
  return colon == std::string::npos ? std::string() : both.substr(colon + 1);
}

/// The name of the client whose token the header has; null: nobody's.
const std::string* client_of(const Tokens& tokens, std::string_view authorization) {
  const auto found = tokens.find(sha256_hex(token_in(authorization)));
  return found == tokens.end() ? nullptr : &found->second;
}

}  // namespace

tl::expected<Head, Refusal> parse_head(std::string_view text, const Admission& admission) {
  const std::optional<std::string_view> line = take_line(text);
  if (!line) return refused(400, "no request of HTTP, expected METHOD PATH HTTP/1.1");
  tl::expected<Head, Refusal> head = parse_request_line(*line);
  if (!head) return head;
  const tl::expected<Fields, Refusal> fields = parse_fields(text);
  if (!fields) return Refused(fields.error());
  const bool is_named = fields->host && is_host_of_this_machine(*fields->host);
  const bool is_foreign = fields->origin && !is_origin_of_this_machine(*fields->origin);
  const bool asks_token = admission.tokens != nullptr && !admission.tokens->empty();
  if ((admission.on_loopback && !asks_token && !is_named) || is_foreign)
    return refused(403, "only programs of this machine are answered");
  if (asks_token && head->path != kHealthPath) {
    const std::string* const client = client_of(*admission.tokens, fields->authorization.value_or(""));
    if (client == nullptr)
      return refused(401, "no known token, expected the header 'Authorization: Bearer TOKEN' with one of --token-file");
    head->client = *client;
  }
  if (fields->encoding && lower(*fields->encoding) != "identity")
    return refused(415, "a Content-Encoding is not unpacked, expected the JSON as it is");
  if (fields->transfer) return refused(411, "a Transfer-Encoding is not read, expected a Content-Length");
  if (fields->length) {
    const std::optional<size_t> length = parse_number<size_t>(*fields->length);
    if (!length) return refused(400, "Content-Length: expected a number of bytes");
    head->body_bytes = *length;
  }
  if (head->body_bytes > admission.max_body_bytes) {
    return refused(413, fmt::format("the body is too large: {} bytes, expected at most {}", head->body_bytes,
                                    admission.max_body_bytes));
  }
  if (fields->connection) {
    if (has_word(*fields->connection, "close")) head->keep_alive = false;
    if (has_word(*fields->connection, "keep-alive")) head->keep_alive = true;
  }
  head->expects_continue = fields->expect && lower(*fields->expect) == "100-continue";
  return head;
}

bool is_host_of_this_machine(std::string_view host) {
  const std::string small = lower(host);
  for (const std::string_view name : {"localhost", "127.0.0.1", "[::1]"}) {
    if (small == name) return true;
    if (!small.starts_with(std::string(name) + ":")) continue;
    const std::optional<size_t> port = parse_number<size_t>(std::string_view(small).substr(name.size() + 1));
    return port && *port <= 65535;
  }
  return false;
}

bool is_origin_of_this_machine(std::string_view origin) {
  for (const std::string_view scheme : {"http://", "https://"}) {
    if (origin.starts_with(scheme)) return is_host_of_this_machine(origin.substr(scheme.size()));
  }
  return false;
}

bool has_few_json_values(std::string_view text) {
  size_t values = 1;
  const auto is_too_much = [&](char c) { return (c == ',' || c == '[' || c == '{') && ++values > kMostJsonValues; };
  return find_outside_strings(text, is_too_much) == std::string_view::npos;
}

}  // namespace passnet::http
