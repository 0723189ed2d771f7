// A directory of files as pieces of bytes that one machine sends to another: facts of a file as a line of JSON, its bytes,
// the next file. A piece can be taken again: it says where its bytes belong.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace passnet::cluster {

/// Most bytes of a piece, without the line of its last file.
inline constexpr size_t kPieceBytes = 4 << 20;

using SendPiece = std::function<Result<void>(const std::string& piece)>;

/// All directories and regular files below a directory; nothing where there is none.
/// Errors: Io; BadInput: a link; those of `send`.
Result<void> send_files(const std::filesystem::path& directory, const SendPiece& send);

/// Writes the files of a piece below a directory. REQUIRES: nobody else writes there.
/// Errors: BadInput: no such piece, a path that leads out of the directory; Io.
Result<void> take_files(const std::filesystem::path& directory, std::string_view piece);

}  // namespace passnet::cluster
