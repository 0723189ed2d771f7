#include "base/text/lines.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <vector>

#include "base/file/file.h"
#include "base/file/open_beneath.h"
#include "base/text/strings.h"

namespace passnet {

namespace {

Error too_long(const std::string& path, uint32_t number) {
  return bad_input(fmt::format("the line is too long, expected at most {} bytes", kMostOfALine),
                   SourceLoc{path, number, 1});
}

Result<void> read_lines(int fd, const std::string& path, const UseLine& use) {
  PASSNET_TRY_VOID(size_of_regular(fd, path));
  std::vector<char> block(size_t{1} << 18);
  std::string line;  // as far as it has been read
  const auto hand_on = [&](uint32_t number, bool whole) {
    const std::string_view content = trim(line);
    return content.empty() || use(number, content, whole);
  };
  uint32_t number = 1;
  for (;;) {
    const ssize_t got = ::read(fd, block.data(), block.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return io_error("read", path, errno);
    if (got == 0) break;
    std::string_view rest(block.data(), static_cast<size_t>(got));
    for (size_t end = rest.find('\n'); end != std::string_view::npos; end = rest.find('\n')) {
      line += rest.substr(0, end);
      rest.remove_prefix(end + 1);
      if (!hand_on(number++, true)) return {};
      line.clear();
    }
    line += rest;
    if (line.size() > kMostOfALine) return too_long(path, number);
  }
  hand_on(number, false);
  return {};
}

}  // namespace

void for_each_line(std::string_view text, const UseLine& use) {
  for (uint32_t number = 1; !text.empty(); ++number) {
    const size_t end = text.find('\n');
    const bool whole = end != std::string_view::npos;
    const std::string_view line = trim(text.substr(0, end));
    text.remove_prefix(whole ? end + 1 : text.size());
    if (!line.empty() && !use(number, line, whole)) return;
  }
}

Result<void> for_each_line_of(const std::filesystem::path& file, const UseLine& use) {
  PASSNET_TRY(const UniqueFd fd, open_to_read(file, FileKind::Lines));
  return read_lines(fd.get(), file.string(), use);
}

Result<void> for_each_line_beneath(const std::filesystem::path& root, const std::filesystem::path& file,
                                   const UseLine& use) {
  PASSNET_TRY(const UniqueFd fd, open_beneath(root, file, FileKind::Lines));
  return read_lines(fd.get(), path_beneath(root, file), use);
}

}  // namespace passnet
