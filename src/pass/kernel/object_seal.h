// What ties a kept object to what it was built from: its SHA-256 and its key in the cache, under a secret of this
// installation. Who can write into the cache, but does not know the secret, cannot put another object there.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "base/result.h"

namespace passnet::pass {

/// The secret in passnet_home()/kernel.key, made at the first call: 64 hex digits that this user alone may read.
/// Errors: Io; Resource when the file is someone else's or may be read by others.
Result<std::string> installation_secret();

/// Writes OBJECT.seal, before the object itself is put there. object: where it will be; key: of the cache.
/// Errors: Io.
Result<void> write_seal(const std::filesystem::path& object, const std::string& secret, const std::string& key,
                        std::string_view bytes);

/// Why these bytes are not what was built for that key; empty when they are.
std::string broken_seal(const std::filesystem::path& object, const std::string& secret, const std::string& key,
                        std::string_view bytes);

}  // namespace passnet::pass
