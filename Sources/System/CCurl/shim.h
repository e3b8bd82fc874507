#pragma once
#include <curl/curl.h>
#include <stdint.h>
#include <sys/socket.h>
#include <unistd.h>

// curl_easy_setopt and curl_easy_getinfo take anything after the option, which Swift cannot call: one function for each
// kind of value. The names say which kind; that it is the option's own is the caller's promise.

#if defined(__has_attribute) && __has_attribute(swift_attr)
#define ASSAY_SENDABLE __attribute__((swift_attr("@Sendable")))
#else
#define ASSAY_SENDABLE
#endif

/// A multi handle. Only curl_multi_wakeup may be called on it from any thread; all else belongs to one thread.
typedef struct ASSAY_SENDABLE {
    CURLM *multi;
} assay_curl_multi;

typedef size_t (*assay_curl_sink)(char *bytes, size_t size, size_t count, void *context);
typedef curl_socket_t (*assay_curl_opener)(void *context, curlsocktype purpose, struct curl_sockaddr *address);

static inline CURLcode assay_curl_set_long(CURL *easy, CURLoption option, long value) {
    return curl_easy_setopt(easy, option, value);
}

static inline CURLcode assay_curl_set_offset(CURL *easy, CURLoption option, int64_t value) {
    return curl_easy_setopt(easy, option, (curl_off_t)value);
}

static inline CURLcode assay_curl_set_string(CURL *easy, CURLoption option, const char *value) {
    return curl_easy_setopt(easy, option, value);
}

static inline CURLcode assay_curl_set_pointer(CURL *easy, CURLoption option, void *value) {
    return curl_easy_setopt(easy, option, value);
}

static inline CURLcode assay_curl_set_list(CURL *easy, CURLoption option, struct curl_slist *value) {
    return curl_easy_setopt(easy, option, value);
}

static inline CURLcode assay_curl_set_sink(CURL *easy, CURLoption option, assay_curl_sink value) {
    return curl_easy_setopt(easy, option, value);
}

static inline CURLcode assay_curl_set_opener(CURL *easy, assay_curl_opener value) {
    return curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, value);
}

static inline CURLcode assay_curl_get_long(CURL *easy, CURLINFO info, long *value) {
    return curl_easy_getinfo(easy, info, value);
}

static inline CURLcode assay_curl_get_string(CURL *easy, CURLINFO info, char **value) {
    return curl_easy_getinfo(easy, info, value);
}

static inline CURLcode assay_curl_get_pointer(CURL *easy, void **value) {
    return curl_easy_getinfo(easy, CURLINFO_PRIVATE, value);
}

static inline CURLMcode assay_curl_multi_set_long(CURLM *multi, CURLMoption option, long value) {
    return curl_multi_setopt(multi, option, value);
}

/// The code of a finished transfer; `easy` is NULL when the message tells something else.
static inline CURLcode assay_curl_result(const CURLMsg *message, CURL **easy) {
    *easy = message->msg == CURLMSG_DONE ? message->easy_handle : NULL;
    return message->data.result;
}
