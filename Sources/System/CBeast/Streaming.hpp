// Answers that are made while they are written: one part after another, each asked for when the last one is gone.
#pragma once

#include "Listener.hpp"

#include <cstdio>

namespace assay {

inline void Listener::begin_stream(Connection &connection, Answer &&answer) {
    if (connection.is_input_ended && !connection.is_head_request) {
        // Who ended its side before a stream began has left: see `leave`.
        add_event(assay_event_unanswered, connection).code = answer.status;
        connection.handed_bytes = 0;
        return close(connection);
    }
    connection.stream_end = assay_stream_unended;
    connection.streamed_bytes = 0;
    connection.is_answering = true;
    // The request's body is gone, however long the stream lasts.
    connection.handed_bytes = 0;
    prepare_output(connection, answer.status, std::move(answer.head), {}, answer.has_date, answer.stream);
    pump(connection);
}

/// Takes a part. For a stream that is over by now it is one too many, and dropped.
inline void Listener::go_on(Part &&part) {
    Connection *const found = find(part.slot, part.generation);
    if (found == nullptr || found->stream != part.stream || found->phase != Phase::streaming) return;
    switch (part.kind) {
    case assay_part_more:
        if (part.bytes.empty()) {
            add_event(assay_event_wanted, *found);  // An empty chunk would end the body.
            return;
        }
        put_part(*found, std::move(part.bytes));
        break;
    case assay_part_last:
        end_stream(*found, assay_stream_whole);
        break;
    case assay_part_cut:
        return break_off(*found, assay_stream_cut);
    }
    pump(*found);
}

/// RFC 9112 § 7.1: the size in hexadecimal, the bytes, each with its CRLF.
inline void Listener::put_part(Connection &connection, std::string &&bytes) {
    if (!connection.is_version_1_0) {
        char size[24];
        const int count = std::snprintf(size, sizeof size, "%zx\r\n", bytes.size());
        connection.output_head.assign(size, static_cast<std::size_t>(count));
        bytes += "\r\n";
    }
    connection.output_body = std::move(bytes);
    connection.output_goal = output_step;
    connection.phase = Phase::writing;
    set_deadline(connection, limits.write_duration);
    count_buffered(connection);
}

/// Writes the end of the body: for HTTP/1.0 that of the connection.
inline void Listener::end_stream(Connection &connection, assay_stream_end why) {
    connection.stream_end = why;
    if (!connection.is_version_1_0) connection.output_head = "0\r\n\r\n";
    connection.closes_after_output = !connection.keeps_alive || (is_draining && connection.input.empty());
    connection.output_goal = output_step;
    connection.phase = Phase::writing;
    set_deadline(connection, limits.write_duration);
}

/// A part is written, or the head. False when it was the last.
inline bool Listener::finish_part(Connection &connection) {
    connection.streamed_bytes += connection.output_bytes();
    if (connection.stream_end != assay_stream_unended) {
        tell_streamed(connection, connection.stream_end);
        return false;
    }
    connection.release_output();
    count_buffered(connection);
    if (is_draining) {
        end_stream(connection, assay_stream_stopped);
        return true;
    }
    connection.phase = Phase::streaming;
    connection.deadline = Moment::max();
    add_event(assay_event_wanted, connection);
    await_input(connection);
    return true;
}

/// Closes in such a way that the client sees that the body is not whole.
inline void Listener::break_off(Connection &connection, assay_stream_end why) {
    // Without chunks a plain end would look like the body's; and who does not read leaves bytes that would stay with us.
    if (connection.is_version_1_0 || why == assay_stream_too_slow) {
        Error ignored;
        connection.socket.set_option(boost::asio::socket_base::linger(true, 0), ignored);
    }
    tell_streamed(connection, why);
    close(connection);
}

inline void Listener::tell_streamed(Connection &connection, assay_stream_end why) {
    assay_event &event = add_event(assay_event_streamed, connection);
    event.code = connection.output_status;
    event.end = why;
    event.bytes = connection.streamed_bytes;
    event.microseconds = microseconds_since(connection.began);
    connection.stream = 0;
    connection.is_answering = false;
}

}  // namespace assay
