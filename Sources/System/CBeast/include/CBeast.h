// An HTTP/1.1 listener over Boost.Asio and Boost.Beast's parser, seen from C.
//
// Nothing here calls back: whoever owns the listener asks for the next event in a loop, on one thread. A connection is
// a pair of numbers, its slot and the slot's generation, so that an answer for a connection that is gone finds nobody.
// No function throws; when memory runs out the process ends.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
#define ASSAY_NOEXCEPT noexcept
extern "C" {
#else
#define ASSAY_NOEXCEPT
#endif

// Why the listener answered a request by itself.
enum assay_refusal {
    assay_refusal_none = 0,
    assay_refusal_request_line,
    assay_refusal_target,
    assay_refusal_version,
    assay_refusal_field,
    assay_refusal_host,
    assay_refusal_body_length,
    assay_refusal_transfer_coding,
    assay_refusal_chunk,
    assay_refusal_expectation,
    assay_refusal_target_too_long,
    assay_refusal_header_too_large,
    assay_refusal_body_too_large,
    assay_refusal_header_too_slow,
    assay_refusal_body_too_slow,
    assay_refusal_too_many_requests,
    assay_refusal_too_many_connections,
    assay_refusal_too_many_bytes,
    assay_refusal_count
};

// Counts are of bytes or pieces, durations in milliseconds.
struct assay_limits {
    uint32_t header_bytes;
    uint32_t header_fields;
    uint64_t body_bytes;
    uint64_t buffered_bytes;
    uint32_t connections;
    uint32_t requests;
    uint32_t header_duration;
    uint32_t body_duration;
    uint32_t idle_duration;
    uint32_t write_duration;
    uint32_t linger_duration;
    uint32_t drain_idle_duration;
    uint32_t drain_duration;
};

// Bytes that somebody else owns.
struct assay_bytes {
    const char *start;
    size_t count;
};

struct assay_field {
    struct assay_bytes name;
    struct assay_bytes value;
};

enum assay_event_kind {
    assay_event_none = 0,
    // A connection was taken. `address`, `port`.
    assay_event_accepted,
    // A whole request: exactly one `assay_answer` must follow. The bytes are there until the next `assay_next`.
    assay_event_request,
    // The client of an unanswered request left; the answer must still be given, and may find nobody.
    assay_event_left,
    // The answer to a request was handed to the kernel. `code` is its status.
    assay_event_answered,
    // The answer could not be delivered: the client left, or did not read.
    assay_event_unanswered,
    // The listener answered by itself; `code` is an `assay_refusal`.
    assay_event_refused,
    // No descriptor or memory for another connection; `code` is the errno. It tries again by itself.
    assay_event_exhausted,
    // Stopped, and every connection closed.
    assay_event_ended
};

struct assay_event {
    enum assay_event_kind kind;
    uint32_t slot;
    uint32_t generation;
    int32_t code;
    // From the request's last byte to the answer's.
    uint64_t microseconds;
    // Of the answer, head and body.
    uint64_t bytes;
    // 4 or 16 bytes, in network order.
    uint8_t address[16];
    uint8_t address_bytes;
    uint16_t port;
    struct assay_bytes method;
    struct assay_bytes target;
    const struct assay_field *fields;
    size_t field_count;
    struct assay_bytes body;
};

// Instead of a status: no answer, and the connection is reset.
enum { assay_status_hang_up = 0 };

struct assay_answer {
    int32_t status;
    // The status line and the fields, each with its CRLF; the listener adds Date, Content-Length, Connection, the end.
    struct assay_bytes head;
    struct assay_bytes body;
    // The fields have a Date already.
    bool has_date;
};

struct assay_listener_state;

// `assay_next` belongs to one thread; `assay_answer_request`, `assay_stop` and `assay_port` to any.
typedef struct __attribute__((swift_attr("@Sendable"))) {
    struct assay_listener_state *state;
} assay_listener;

// A listener that does not listen yet.
assay_listener assay_create(const struct assay_limits *limits) ASSAY_NOEXCEPT;

// What is answered for a reason. To be said for each of them before `assay_listen`; the bytes are copied.
void assay_set_refusal(
    assay_listener listener, enum assay_refusal why, const struct assay_answer *answer
) ASSAY_NOEXCEPT;

// Binds and listens. An errno, or 0.
int32_t assay_listen(assay_listener listener, const char *address, uint16_t port) ASSAY_NOEXCEPT;

// The port that is listened on.
uint16_t assay_port(assay_listener listener) ASSAY_NOEXCEPT;

// The next event; without one, waits for it if told so, else says `assay_event_none`.
void assay_next(assay_listener listener, bool waits, struct assay_event *event) ASSAY_NOEXCEPT;

// Answers a request. The bytes are copied.
void assay_answer_request(
    assay_listener listener, uint32_t slot, uint32_t generation, const struct assay_answer *answer
) ASSAY_NOEXCEPT;

// Begins the graceful stop: `assay_next` goes on with events and in the end says `assay_event_ended`.
void assay_stop(assay_listener listener) ASSAY_NOEXCEPT;

// Frees everything. Nobody may be in another function of this listener, or come later.
void assay_free(assay_listener listener) ASSAY_NOEXCEPT;

#ifdef __cplusplus
}
#endif
