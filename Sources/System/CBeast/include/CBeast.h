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
    // All that was given of a stream is with the kernel: exactly one `assay_send_part` is to follow, and may find nobody.
    assay_event_wanted,
    // A stream is over, and takes no more parts; `end` says why. `code` is its status.
    assay_event_streamed,
    // The listener answered by itself; `code` is an `assay_refusal`.
    assay_event_refused,
    // No descriptor or memory for another connection; `code` is the errno. It tries again by itself.
    assay_event_exhausted,
    // Stopped, and every connection closed.
    assay_event_ended
};

// Why a stream is over.
enum assay_stream_end {
    assay_stream_unended = 0,
    // Its last part was handed to the kernel.
    assay_stream_whole,
    // Its source could not go on: the connection was closed without the end of the body.
    assay_stream_cut,
    // The listener stops: the body was ended between two parts.
    assay_stream_stopped,
    assay_stream_left,
    // The client did not take what was sent within the time for writing.
    assay_stream_too_slow
};

struct assay_event {
    enum assay_event_kind kind;
    uint32_t slot;
    uint32_t generation;
    int32_t code;
    enum assay_stream_end end;
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
    // Of a body that follows in parts: a number that no other stream has. Else 0.
    uint64_t stream;
};

enum assay_part_kind {
    // More is to follow. Without bytes, nothing is sent.
    assay_part_more = 0,
    // The end of the body; its bytes are not looked at.
    assay_part_last,
    // There is no more, and the body is not whole.
    assay_part_cut
};

// A part of a stream.
struct assay_part {
    uint64_t stream;
    enum assay_part_kind kind;
    struct assay_bytes bytes;
};

struct assay_listener_state;

// `assay_next` belongs to one thread; `assay_answer_request`, `assay_send_part`, `assay_stop`, `assay_port` to any.
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

// Goes on with a stream. The bytes are copied. Only after `assay_event_wanted`, so there is one part at most.
void assay_send_part(
    assay_listener listener, uint32_t slot, uint32_t generation, const struct assay_part *part
) ASSAY_NOEXCEPT;

// Begins the graceful stop: `assay_next` goes on with events and in the end says `assay_event_ended`.
void assay_stop(assay_listener listener) ASSAY_NOEXCEPT;

// Frees everything. Nobody may be in another function of this listener, or come later.
void assay_free(assay_listener listener) ASSAY_NOEXCEPT;

#ifdef __cplusplus
}
#endif
