#include "CSQLiteLog.h"

#include <sqlite3.h>
#include <stddef.h>
#include <string.h>

// What has been gathered lies over the file, as it were: a read finds it, a write into it changes it, and a sync brings it
// to the file first. To SQLite it is as if each piece were written at once, but for when a failure to write is told: with a
// later piece, or with the sync. Both end the transaction, and all that was gathered is of this one transaction, as the last
// was synced. So it is dropped then: what comes next does not fail because of what is no more.

// SQLite's own way to write takes less than 128 KiB at once, as nothing of its own is larger (seekAndWriteFd in os_unix.c).
enum { gathered_max = 127 * 1024 };

typedef struct {
    sqlite3_file base;
    // The file itself lies behind this structure.
    sqlite3_file *file;
    unsigned char *bytes;
    sqlite3_int64 begin;
    sqlite3_int64 count;
} Log;

static sqlite3_file *file_of(sqlite3_file *log) { return ((Log *)log)->file; }

static int bring(Log *log) {
    if (log->count == 0) return SQLITE_OK;
    int count = (int)log->count;
    log->count = 0;
    return log->file->pMethods->xWrite(log->file, log->bytes, count, log->begin);
}

static int log_close(sqlite3_file *self) {
    Log *log = (Log *)self;
    // What was committed is synced. What is still gathered was not, and its place may be another writer's by now.
    sqlite3_free(log->bytes);
    log->bytes = NULL;
    return log->file->pMethods->xClose(log->file);
}

static int log_read(sqlite3_file *self, void *into, int count, sqlite3_int64 begin) {
    Log *log = (Log *)self;
    sqlite3_int64 end = begin + count, gathered_end = log->begin + log->count;
    if (log->count > 0 && begin < gathered_end && end > log->begin) {
        if (begin >= log->begin && end <= gathered_end) {
            memcpy(into, log->bytes + (begin - log->begin), (size_t)count);
            return SQLITE_OK;
        }
        // A page or its header is written at once, and so read.
        int brought = bring(log);
        if (brought != SQLITE_OK) return brought;
    }
    return log->file->pMethods->xRead(log->file, into, count, begin);
}

static int log_write(sqlite3_file *self, const void *bytes, int count, sqlite3_int64 begin) {
    Log *log = (Log *)self;
    sqlite3_int64 end = begin + count;
    // Before what was gathered, such as the checksum of a page that is written anew.
    if (log->count > 0 && end <= log->begin) return log->file->pMethods->xWrite(log->file, bytes, count, begin);
    int fits = begin >= log->begin && begin <= log->begin + log->count && end <= log->begin + gathered_max;
    if (log->count > 0 && !fits) {
        int brought = bring(log);
        if (brought != SQLITE_OK) return brought;
    }
    if (count > gathered_max) return log->file->pMethods->xWrite(log->file, bytes, count, begin);
    if (log->count == 0) log->begin = begin;
    memcpy(log->bytes + (begin - log->begin), bytes, (size_t)count);
    if (end > log->begin + log->count) log->count = end - log->begin;
    return SQLITE_OK;
}

static int log_truncate(sqlite3_file *self, sqlite3_int64 size) {
    Log *log = (Log *)self;
    if (log->begin >= size) log->count = 0;
    int brought = bring(log);
    return brought != SQLITE_OK ? brought : log->file->pMethods->xTruncate(log->file, size);
}

static int log_sync(sqlite3_file *self, int flags) {
    Log *log = (Log *)self;
    int brought = bring(log);
    return brought != SQLITE_OK ? brought : log->file->pMethods->xSync(log->file, flags);
}

static int log_size(sqlite3_file *self, sqlite3_int64 *size) {
    Log *log = (Log *)self;
    int code = log->file->pMethods->xFileSize(log->file, size);
    if (code == SQLITE_OK && log->count > 0 && *size < log->begin + log->count) *size = log->begin + log->count;
    return code;
}

static int log_lock(sqlite3_file *self, int level) { return file_of(self)->pMethods->xLock(file_of(self), level); }
static int log_unlock(sqlite3_file *self, int level) { return file_of(self)->pMethods->xUnlock(file_of(self), level); }
static int log_is_reserved(sqlite3_file *self, int *is_reserved) {
    return file_of(self)->pMethods->xCheckReservedLock(file_of(self), is_reserved);
}
static int log_control(sqlite3_file *self, int verb, void *value) {
    return file_of(self)->pMethods->xFileControl(file_of(self), verb, value);
}
static int log_sector(sqlite3_file *self) { return file_of(self)->pMethods->xSectorSize(file_of(self)); }
static int log_device(sqlite3_file *self) { return file_of(self)->pMethods->xDeviceCharacteristics(file_of(self)); }

// Version 1: a log is not mapped, and has no memory that is shared.
static const sqlite3_io_methods log_methods = {
    .iVersion = 1,
    .xClose = log_close,
    .xRead = log_read,
    .xWrite = log_write,
    .xTruncate = log_truncate,
    .xSync = log_sync,
    .xFileSize = log_size,
    .xLock = log_lock,
    .xUnlock = log_unlock,
    .xCheckReservedLock = log_is_reserved,
    .xFileControl = log_control,
    .xSectorSize = log_sector,
    .xDeviceCharacteristics = log_device,
};

static sqlite3_vfs *system_of(sqlite3_vfs *self) { return (sqlite3_vfs *)self->pAppData; }

static int files_open(sqlite3_vfs *self, sqlite3_filename name, sqlite3_file *file, int flags, int *out_flags) {
    sqlite3_vfs *system = system_of(self);
    if ((flags & SQLITE_OPEN_WAL) == 0) return system->xOpen(system, name, file, flags, out_flags);
    Log *log = (Log *)file;
    *log = (Log){.file = (sqlite3_file *)(log + 1)};
    log->file->pMethods = NULL;
    log->bytes = sqlite3_malloc(gathered_max);
    if (log->bytes == NULL) return SQLITE_NOMEM;
    int code = system->xOpen(system, name, log->file, flags, out_flags);
    if (log->file->pMethods != NULL) {
        // SQLite closes it, also when opening it has failed.
        log->base.pMethods = &log_methods;
    } else {
        sqlite3_free(log->bytes);
        log->bytes = NULL;
    }
    return code;
}

static int files_delete(sqlite3_vfs *self, const char *name, int syncs) {
    return system_of(self)->xDelete(system_of(self), name, syncs);
}
static int files_access(sqlite3_vfs *self, const char *name, int flags, int *out) {
    return system_of(self)->xAccess(system_of(self), name, flags, out);
}
static int files_path(sqlite3_vfs *self, const char *name, int count, char *out) {
    return system_of(self)->xFullPathname(system_of(self), name, count, out);
}
static int files_random(sqlite3_vfs *self, int count, char *out) {
    return system_of(self)->xRandomness(system_of(self), count, out);
}
static int files_sleep(sqlite3_vfs *self, int microseconds) {
    return system_of(self)->xSleep(system_of(self), microseconds);
}
static int files_time(sqlite3_vfs *self, double *out) { return system_of(self)->xCurrentTime(system_of(self), out); }
static int files_milliseconds(sqlite3_vfs *self, sqlite3_int64 *out) {
    return system_of(self)->xCurrentTimeInt64(system_of(self), out);
}
static int files_error(sqlite3_vfs *self, int count, char *out) {
    return system_of(self)->xGetLastError(system_of(self), count, out);
}

void assay_sqlite_log_drop(sqlite3 *connection) {
    sqlite3_file *file = NULL;
    if (sqlite3_file_control(connection, "main", SQLITE_FCNTL_JOURNAL_POINTER, &file) != SQLITE_OK) return;
    if (file != NULL && file->pMethods == &log_methods) ((Log *)file)->count = 0;
}

int assay_sqlite_log_register(void) {
    static sqlite3_vfs files;
    sqlite3_vfs *system = sqlite3_vfs_find(NULL);
    if (system == NULL || system->iVersion < 2) return SQLITE_ERROR;
    files = (sqlite3_vfs){
        .iVersion = 2,
        .szOsFile = (int)sizeof(Log) + system->szOsFile,
        .mxPathname = system->mxPathname,
        .zName = ASSAY_SQLITE_LOG,
        .pAppData = system,
        .xOpen = files_open,
        .xDelete = files_delete,
        .xAccess = files_access,
        .xFullPathname = files_path,
        .xRandomness = files_random,
        .xSleep = files_sleep,
        .xCurrentTime = files_time,
        .xGetLastError = files_error,
        .xCurrentTimeInt64 = files_milliseconds,
    };
    return sqlite3_vfs_register(&files, 0);
}
