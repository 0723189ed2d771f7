// SQLite, as little of it as an index and a store of records need.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"

struct sqlite3;
struct sqlite3_stmt;

namespace passnet::sqlite {

using Cell = std::variant<std::monostate, int64_t, double, std::string>;

/// A statement that is run again and again with other values.
class Statement {
 public:
  /// Runs it to its end; rows are dropped. Errors: Io.
  Result<void> run(const std::vector<Cell>& values);
  /// All rows. Errors: Io.
  Result<std::vector<std::vector<Cell>>> rows(const std::vector<Cell>& values = {});

 private:
  friend class Database;
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const;
  };
  Result<void> bind(const std::vector<Cell>& values);
  std::unique_ptr<sqlite3_stmt, Finalize> statement_;
};

class Database {
 public:
  /// Errors: Io (with SQLite's words).
  static Result<Database> create(const std::string& path);
  static Result<Database> open(const std::string& path);
  Result<void> execute(const std::string& sql);
  Result<Statement> prepare(std::string_view sql);

 private:
  static Result<Database> open(const std::string& path, int flags);
  struct Close {
    void operator()(sqlite3* database) const;
  };
  std::unique_ptr<sqlite3, Close> database_;
};

}  // namespace passnet::sqlite
