// Does by a seed what SQLite may do with its log, with the log that is gathered and in memory, and compares the two.
//
//     LogProbe FILE FIRST COUNT
//
// FILE is a database's, which must be there; the log is written beside it. Says how many seeds were alike, or what differed.

#include <CSQLiteLog.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { size_max = 1024 * 1024, page = 4096, header = 24, acts = 400 };

static uint64_t state;

static uint64_t draw(uint64_t bound) {
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    return state % bound;
}

static void fail(const char *form, ...) {
    va_list values;
    va_start(values, form);
    vprintf(form, values);
    va_end(values);
    printf("\n");
    exit(1);
}

static unsigned char model[size_max], found[size_max];
static sqlite3_int64 size;
static sqlite3_file *file;
static const char *path;

static void put(sqlite3_int64 begin, int count) {
    static unsigned char bytes[size_max];
    if (begin + count > size_max) return;
    for (int place = 0; place < count; place++) bytes[place] = (unsigned char)draw(256);
    int code = file->pMethods->xWrite(file, bytes, count, begin);
    if (code != SQLITE_OK) fail("write: %d", code);
    memcpy(model + begin, bytes, (size_t)count);
    if (begin + count > size) size = begin + count;
}

static void get(sqlite3_int64 begin, int count) {
    if (begin + count > size_max) return;
    int code = file->pMethods->xRead(file, found, count, begin);
    // What is not there is zero, as the model has it.
    int expected = begin + count > size ? SQLITE_IOERR_SHORT_READ : SQLITE_OK;
    if (code != expected) fail("read %lld, %d of %lld: %d", begin, count, size, code);
    if (memcmp(found, model + begin, (size_t)count) != 0) fail("read %lld, %d: other bytes", begin, count);
}

static void compare_with_disk(void) {
    int code = file->pMethods->xSync(file, SQLITE_SYNC_NORMAL);
    if (code != SQLITE_OK) fail("sync: %d", code);
    FILE *disk = fopen(path, "rb");
    if (disk == NULL) fail("no file");
    size_t count = fread(found, 1, size_max, disk);
    fclose(disk);
    if ((sqlite3_int64)count != size) fail("on disk %zu of %lld", count, size);
    if (memcmp(found, model, count) != 0) fail("on disk: other bytes");
}

static void shorten(sqlite3_int64 to) {
    if (to > size) return;
    int code = file->pMethods->xTruncate(file, to);
    if (code != SQLITE_OK) fail("truncate: %d", code);
    memset(model + to, 0, (size_t)(size - to));
    size = to;
}

static void act(void) {
    sqlite3_int64 frames = size / (page + header);
    switch (draw(100)) {
    // Pages of a transaction, one after the other.
    case 0 ... 54:
        for (uint64_t count = 1 + draw(40); count > 0; count--) put(size, header), put(size, page);
        break;
    // One that is written anew, whole or its checksum alone.
    case 55 ... 69:
        if (frames > 0) {
            sqlite3_int64 begin = (sqlite3_int64)draw((uint64_t)frames) * (page + header);
            if (draw(2)) put(begin + header, page);
            put(begin, draw(2) ? header : 8);
        }
        break;
    case 70 ... 79: get((sqlite3_int64)draw(size_max), 1 + (int)draw(2 * page)); break;
    case 80 ... 86: put((sqlite3_int64)draw((uint64_t)size + 1), 1 + (int)draw(3 * page)); break;
    // More is never asked for at once.
    case 87: put((sqlite3_int64)draw((uint64_t)size + 1), 1 + (int)draw(128 * 1024 - 1)); break;
    case 88: shorten((sqlite3_int64)draw((uint64_t)size + 1)); break;
    case 89: put(0, 32); break;
    case 90 ... 94: compare_with_disk(); break;
    default: {
        sqlite3_int64 told;
        if (file->pMethods->xFileSize(file, &told) != SQLITE_OK || told != size) fail("size %lld", told);
    }
    }
}

static void live(uint64_t seed, sqlite3_vfs *files) {
    state = seed * 0x9E3779B97F4A7C15u + 1;
    memset(model, 0, size_max);
    size = 0;
    remove(path);
    int flags = SQLITE_OPEN_WAL | SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
    if (files->xOpen(files, path, file, flags, NULL) != SQLITE_OK) fail("not opened");
    for (int count = 0; count < acts; count++) act();
    get(0, (int)size);
    compare_with_disk();
    if (file->pMethods->xClose(file) != SQLITE_OK) fail("not closed");
}

int main(int count, char **words) {
    if (count != 4) fail("LogProbe FILE FIRST COUNT");
    if (assay_sqlite_log_register() != SQLITE_OK) fail("not registered");
    sqlite3_vfs *files = sqlite3_vfs_find(ASSAY_SQLITE_LOG);
    file = malloc((size_t)files->szOsFile);
    // As SQLite names a log: what lies before and behind a name is looked at.
    char *log = sqlite3_mprintf("%s-wal", words[1]);
    path = sqlite3_create_filename(log, log, log, 0, NULL);
    uint64_t first = strtoull(words[2], NULL, 10), seeds = strtoull(words[3], NULL, 10);
    for (uint64_t seed = first; seed < first + seeds; seed++) {
        printf("%llu: ", (unsigned long long)seed);
        live(seed, files);
        printf("alike\n");
    }
    return 0;
}
