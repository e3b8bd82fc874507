#pragma once
#include <sqlite3.h>

// What Swift cannot import of SQLite: functions with a variable number of arguments, and casts in macros.

static inline int assay_sqlite_set_flag(sqlite3 *connection, int option, int value) {
    return sqlite3_db_config(connection, option, value, (int *)0);
}

static inline int assay_sqlite_bind_text(sqlite3_stmt *statement, int index, const char *bytes, int count) {
    return sqlite3_bind_text(statement, index, bytes, count, SQLITE_TRANSIENT);
}

static inline int assay_sqlite_bind_bytes(sqlite3_stmt *statement, int index, const void *bytes, int count) {
    return sqlite3_bind_blob(statement, index, bytes, count, SQLITE_TRANSIENT);
}

// The bytes must stay where they are, and as they are, until the parameter is bound anew or the statement is finalized.
static inline int assay_sqlite_bind_kept_text(sqlite3_stmt *statement, int index, const void *bytes, int count) {
    return sqlite3_bind_text(statement, index, (const char *)bytes, count, SQLITE_STATIC);
}

static inline int assay_sqlite_bind_kept_bytes(sqlite3_stmt *statement, int index, const void *bytes, int count) {
    return sqlite3_bind_blob(statement, index, bytes, count, SQLITE_STATIC);
}

// Before the first connection, or without effect. Whoever asks SQLite how much memory it holds asks in vain then.
static inline int assay_sqlite_count_no_memory(void) {
    return sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
}
