// Loaded before Swift's libraries: tells the thread sanitizer when a `Synchronization.Mutex` that others wait for is taken and
// given back.
//
// Whoever finds such a mutex free takes it by an atomic exchange, which is compiled into the caller and which the sanitizer
// sees. Whoever has to wait calls into a library that was not built for it: all that a mutex guards then looks unguarded. Nothing
// else is told; what no mutex guards is still found.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>

#define SWIFT __attribute__((swiftcall))
#define SELF __attribute__((swift_context)) void *

#define LOCK "$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF"
#define TRY_LOCK "$s15Synchronization12_MutexHandleV12_tryLockSlowSbyF"
#define UNLOCK "$s15Synchronization12_MutexHandleV11_unlockSlowyyF"

SWIFT typedef void (*Lock)(uint32_t thread, SELF);
SWIFT typedef _Bool (*TryLock)(SELF);
SWIFT typedef void (*Unlock)(SELF);

static Lock real_lock;
static TryLock real_try_lock;
static Unlock real_unlock;
// Of the sanitizer; none in programs without it.
static void (*acquire)(void *), (*release)(void *);

__attribute__((constructor)) static void find(void) {
    acquire = (void (*)(void *))dlsym(RTLD_DEFAULT, "__tsan_acquire");
    release = (void (*)(void *))dlsym(RTLD_DEFAULT, "__tsan_release");
    real_lock = (Lock)dlsym(RTLD_NEXT, LOCK);
    real_try_lock = (TryLock)dlsym(RTLD_NEXT, TRY_LOCK);
    real_unlock = (Unlock)dlsym(RTLD_NEXT, UNLOCK);
}

SWIFT void lock(uint32_t thread, SELF mutex) __asm__(LOCK);
SWIFT _Bool try_lock(SELF mutex) __asm__(TRY_LOCK);
SWIFT void unlock(SELF mutex) __asm__(UNLOCK);

SWIFT void lock(uint32_t thread, SELF mutex) {
    real_lock(thread, mutex);
    if (acquire) acquire(mutex);
}

SWIFT _Bool try_lock(SELF mutex) {
    _Bool is_taken = real_try_lock(mutex);
    if (is_taken && acquire) acquire(mutex);
    return is_taken;
}

SWIFT void unlock(SELF mutex) {
    if (release) release(mutex);
    real_unlock(mutex);
}
