// The directory of the machine's lock files, and how a file there is opened, made and named when it is in the way.
// Every user of the machine can write there, so nothing in it is trusted: no link is followed, no pipe is waited for.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "base/file/file.h"
#include "base/result.h"

namespace passnet::run {

struct LockDirectory {
  UniqueFd fd;
  std::filesystem::path path;
};

/// PASSNET_LOCK_DIR; else the first of /run/lock, /dev/shm and /tmp that belongs to root, is sticky and writable by all:
/// the same one for every user and network namespace. Containers have directories of their own; those that share
/// processors or GPUs need PASSNET_LOCK_DIR at one directory. Without any it is a directory below passnet_home(), and a
/// warning says that other users are not seen.
/// Errors: Io: PASSNET_LOCK_DIR, or passnet_home(), cannot be used. Resource: others could replace files of
/// PASSNET_LOCK_DIR.
Result<LockDirectory> open_lock_directory();

/// The file of that name, to lock; made where there is none, readable by all. Errors: Resource, with the owner: a link,
/// no regular file, or one that cannot be opened. Io.
Result<UniqueFd> open_lock_file(const LockDirectory& directory, const std::string& name);

/// The same of a file that is there, to look at; empty where there is none that can be opened.
UniqueFd look_at_lock_file(const LockDirectory& directory, const std::string& name);

/// Makes a file with this content that this process holds locked, in one step: whoever sees it sees all of it, locked.
/// nullopt: the name is taken. Errors: Io.
Result<std::optional<UniqueFd>> publish_locked(const LockDirectory& directory, const std::string& name,
                                               const std::string& content);

/// "mallory", or "1001" of a user without a name.
std::string user_name(unsigned uid);

}  // namespace passnet::run
