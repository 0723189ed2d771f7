#include "sqlite/database.h"

#include <fmt/format.h>
#include <sqlite3.h>

namespace passnet::sqlite {

namespace {

Error failure(sqlite3* database, const std::string& what) {
  const char* said = database != nullptr ? sqlite3_errmsg(database) : "out of memory";
  Error error;
  const int code = database != nullptr ? sqlite3_errcode(database) : SQLITE_NOMEM;
  error.kind = code == SQLITE_NOTADB || code == SQLITE_CORRUPT ? Error::Kind::BadInput : Error::Kind::Io;
  error.message = fmt::format("{}: {}", what, said);
  return error;
}

}  // namespace

void Statement::Finalize::operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
void Database::Close::operator()(sqlite3* database) const { sqlite3_close_v2(database); }

Result<void> Statement::bind(const std::vector<Cell>& values) {
  sqlite3_reset(statement_.get());
  for (size_t i = 0; i < values.size(); ++i) {
    const int place = static_cast<int>(i) + 1;
    int done = SQLITE_OK;
    if (const auto* integer = std::get_if<int64_t>(&values[i])) {
      done = sqlite3_bind_int64(statement_.get(), place, *integer);
    } else if (const auto* real = std::get_if<double>(&values[i])) {
      done = sqlite3_bind_double(statement_.get(), place, *real);
    } else if (const auto* text = std::get_if<std::string>(&values[i])) {
      done = sqlite3_bind_text64(statement_.get(), place, text->data(), text->size(), SQLITE_TRANSIENT, SQLITE_UTF8);
    } else {
      done = sqlite3_bind_null(statement_.get(), place);
    }
    if (done != SQLITE_OK) return failure(sqlite3_db_handle(statement_.get()), "binding a value");
  }
  return {};
}

Result<void> Statement::run(const std::vector<Cell>& values) {
  PASSNET_TRY(const auto rows, this->rows(values));
  (void)rows;
  return {};
}

Result<std::vector<std::vector<Cell>>> Statement::rows(const std::vector<Cell>& values) {
  PASSNET_TRY_VOID(bind(values));
  std::vector<std::vector<Cell>> found;
  for (;;) {
    const int done = sqlite3_step(statement_.get());
    if (done == SQLITE_DONE) return found;
    if (done != SQLITE_ROW) return failure(sqlite3_db_handle(statement_.get()), "reading the database");
    std::vector<Cell>& row = found.emplace_back();
    for (int i = 0; i < sqlite3_column_count(statement_.get()); ++i) {
      switch (sqlite3_column_type(statement_.get(), i)) {
        case SQLITE_INTEGER: row.emplace_back(int64_t{sqlite3_column_int64(statement_.get(), i)}); break;
        case SQLITE_FLOAT: row.emplace_back(sqlite3_column_double(statement_.get(), i)); break;
        case SQLITE_NULL: row.emplace_back(); break;
        default:
          row.emplace_back(std::string(reinterpret_cast<const char*>(sqlite3_column_text(statement_.get(), i)),
                                       static_cast<size_t>(sqlite3_column_bytes(statement_.get(), i))));
      }
    }
  }
}

Result<Database> Database::open(const std::string& path, int flags) {
  Database opened;
  sqlite3* handle = nullptr;
  const int done = sqlite3_open_v2(path.c_str(), &handle, flags, nullptr);
  opened.database_.reset(handle);
  if (done != SQLITE_OK) return failure(handle, fmt::format("opening '{}'", path));
  return opened;
}

Result<Database> Database::create(const std::string& path) {
  return open(path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
}
Result<Database> Database::open(const std::string& path) { return open(path, SQLITE_OPEN_READONLY); }

Result<void> Database::execute(const std::string& sql) {
  if (sqlite3_exec(database_.get(), sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK)
    return failure(database_.get(), "writing the database");
  return {};
}

Result<Statement> Database::prepare(std::string_view sql) {
  Statement statement;
  sqlite3_stmt* handle = nullptr;
  if (sqlite3_prepare_v2(database_.get(), sql.data(), static_cast<int>(sql.size()), &handle, nullptr) != SQLITE_OK)
    return failure(database_.get(), "reading the database");
  statement.statement_.reset(handle);
  return statement;
}

}  // namespace passnet::sqlite
