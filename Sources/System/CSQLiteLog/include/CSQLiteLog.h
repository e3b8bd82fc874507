#pragma once

#include <sqlite3.h>

/// The name of a way for SQLite to reach its files: the system's own, but for the write-ahead log, which is written in
/// pieces of up to 127 KiB.
///
/// SQLite hands the log over in the smallest pieces, two for each page, and each is a call of the kernel. What is handed
/// over in a row is gathered here, until the log is synced or no more fits.
///
/// Only for a connection with `synchronous=FULL`: it syncs the log before anybody is told of a commit, and what a
/// transaction has not committed is read by nobody else. Source: https://www.sqlite.org/pragma.html#pragma_synchronous,
/// and walFrames in SQLite's wal.c.
///
/// Nor for one with `psow=0`: SQLite then fills up the sector behind a commit, after the sync, and readers would miss that.
/// It can be set by a URI alone, or where SQLite was built with it, which Debian's is not; a connection gets a plain path.
#define ASSAY_SQLITE_LOG "assay-log"

/// Makes it known to SQLite under its name. To be called once, before it is asked for.
///
/// - Returns: SQLite's code.
int assay_sqlite_log_register(void);

/// Forgets what a transaction gathered that was rolled back. Without this it would be read and written later, over what
/// another process has committed in its place.
void assay_sqlite_log_drop(sqlite3 *connection);
