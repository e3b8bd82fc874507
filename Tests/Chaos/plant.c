// Loaded into a server before its libraries: keeps something for every connection that it closes.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

// Where the compiler must believe that it is needed.
static void *volatile kept;

static void *wait_for_ever(void *unused) {
    while (1) pause();
    return unused;
}

int close(int descriptor) {
    static int (*real)(int);
    if (!real) real = (int (*)(int))dlsym(RTLD_NEXT, "close");
    const char *plant = getenv("SOAK_PLANT");
    struct stat about;
    if (!plant || fstat(descriptor, &about) || !S_ISSOCK(about.st_mode)) return real(descriptor);
    if (!strcmp(plant, "descriptors")) {
        // The other side must not notice.
        shutdown(descriptor, SHUT_RDWR);
        return 0;
    }
    if (!strcmp(plant, "memory")) {
        kept = malloc(65536);
        if (kept) memset(kept, 1, 65536);
    } else {
        pthread_t thread;
        pthread_create(&thread, 0, wait_for_ever, 0);
    }
    return real(descriptor);
}
