// Texts of a process that runs host code of a pass. It may say anything, and what it says is kept and shown.
#pragma once

#include <filesystem>

#include "base/json/json.h"
#include "base/result.h"

namespace passnet::run {

/// Leaves of each string of a reply one line of at most 300 bytes, without control characters. Names of copies become those
/// of the author's files. copies: JailedProgram::passes.
void cut_host_texts(Json& reply, const std::filesystem::path& copies);

/// An error of such a reply: a kind that host code can cause, at a file that was copied or nowhere.
Error error_of_host_code(Error told, const std::filesystem::path& copies);

}  // namespace passnet::run
