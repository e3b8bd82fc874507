// The listener's ear: from bytes to requests handed over, one phase after another.
#pragma once

#include "Listener.hpp"

namespace assay {

inline void Listener::await_input(Connection &connection) {
    if (connection.is_read_awaited || connection.is_input_ended) return;
    connection.is_read_awaited = true;
    connection.socket.async_wait(
        tcp::socket::wait_read,
        [this, slot = connection.slot, generation = connection.generation](const Error &) {
            Connection *const found = find(slot, generation);
            if (found == nullptr) return;
            found->is_read_awaited = false;
            take_input(*found);  // An error shows again in the read.
        }
    );
}

inline void Listener::take_input(Connection &connection) {
    switch (connection.phase) {
    case Phase::handling:
    case Phase::streaming:
        return watch(connection);
    case Phase::lingering:
        return discard(connection);
    case Phase::writing:
        // A stream may wait long for its client, who may have gone.
        if (connection.stream != 0) watch(connection);
        return;  // The next phase asks again.
    case Phase::closed:
        return;
    case Phase::idle:
    case Phase::head:
    case Phase::body:
        break;
    }
    Error error;
    const std::size_t count = connection.socket.read_some(boost::asio::buffer(scratch), error);
    if (error == boost::asio::error::would_block || error == boost::asio::error::interrupted) {
        return await_input(connection);
    }
    if (error) return close(connection);
    connection.input.append(scratch.data(), count);
    pump(connection);
}

/// Something arrived while a handler or a stream runs: the next request, which stays in the kernel, or the client's end.
inline void Listener::watch(Connection &connection) {
    Error error;
    char byte = 0;
    connection.socket.receive(boost::asio::buffer(&byte, 1), tcp::socket::message_peek, error);
    if (error == boost::asio::error::would_block || error == boost::asio::error::interrupted) {
        return await_input(connection);
    }
    // With bytes waiting no further wait would end before they are read: `tick` looks for the client's end instead.
    if (error) leave(connection, error != boost::asio::error::eof);
}

/// The client ended its side. It may still read (`is_lost` false), so the answer is written all the same; but a stream
/// may have no end, and is nobody's any more.
inline void Listener::leave(Connection &connection, bool is_lost) {
    if (is_lost || connection.stream != 0) return close(connection);
    connection.is_input_ended = true;
    if (connection.has_told_left) return;
    connection.has_told_left = true;
    add_event(assay_event_left, connection);
}

inline void Listener::discard(Connection &connection) {
    Error error;
    const std::size_t count = connection.socket.read_some(boost::asio::buffer(scratch), error);
    connection.discarded += count;
    const bool is_waiting = error == boost::asio::error::would_block || error == boost::asio::error::interrupted;
    if ((error && !is_waiting) || connection.discarded > limits.body_bytes + discarded_bytes_max) return close(connection);
    await_input(connection);
}

/// Carries a connection on until it has to wait for its client or for an answer.
///
/// A loop, not calls from phase to phase: a client may send thousands of requests at once.
inline void Listener::pump(Connection &connection) {
    for (;;) {
        bool goes_on = false;
        switch (connection.phase) {
        case Phase::idle: goes_on = begin_request(connection); break;
        case Phase::head: goes_on = parse_head(connection); break;
        case Phase::body: goes_on = parse_body(connection); break;
        case Phase::writing: goes_on = write(connection); break;
        case Phase::handling:
        case Phase::streaming:
        case Phase::lingering:
        case Phase::closed: break;
        }
        if (!goes_on) return;
    }
}

inline bool Listener::begin_request(Connection &connection) {
    std::string &input = connection.input;
    if (input.empty()) {
        if (connection.is_input_ended) {
            close(connection);
            return false;
        }
        std::string().swap(input);
        await_input(connection);
        return false;
    }
    connection.phase = Phase::head;
    connection.is_head_request = false;
    connection.keeps_alive = false;
    set_deadline(connection, limits.header_duration);
    return true;
}

inline bool Listener::parse_head(Connection &connection) {
    std::string &input = connection.input;
    // RFC 9112 § 2.2: one empty line before a request is to be forgiven.
    if (!connection.has_skipped_empty_line && input.starts_with("\r\n")) {
        input.erase(0, 2);
        connection.has_skipped_empty_line = true;
        connection.scan = {};
        if (input.empty()) {
            connection.phase = Phase::idle;
            return true;
        }
    }
    if (!connection.scan.finds_end(input.data(), input.size(), limits)) {
        if (connection.scan.refusal != assay_refusal_none) {
            refuse(connection, connection.scan.refusal, true);
            return true;
        }
        if (connection.is_input_ended) {
            close(connection);
            return false;
        }
        await_input(connection);
        return false;
    }
    connection.request = std::make_unique<RequestParser>(limits);
    RequestParser &request = *connection.request;
    const assay_refusal refusal = request.take_head(input.data(), connection.scan.position);
    input.erase(0, connection.scan.position);
    connection.has_skipped_empty_line = false;
    connection.is_head_request = request.method == "HEAD";
    if (refusal != assay_refusal_none) {
        refuse(connection, refusal, true);
        return true;
    }
    connection.keeps_alive = request.keep_alive();
    connection.is_version_1_0 = request.is_version_1_0();
    if (request.is_done()) return hand_over(connection);
    connection.phase = Phase::body;
    set_deadline(connection, limits.body_duration);
    if (request.expects_continue && input.empty()) {
        static constexpr std::string_view interim = "HTTP/1.1 100 Continue\r\n\r\n";
        Error error;
        const std::size_t count = connection.socket.write_some(boost::asio::buffer(interim), error);
        // Nothing else is under way, so these few bytes fit, unless the client has read none of what went before.
        if (error || count != interim.size()) {
            close(connection);
            return false;
        }
    }
    return true;
}

inline bool Listener::parse_body(Connection &connection) {
    RequestParser &request = *connection.request;
    std::size_t taken = 0;
    assay_refusal refusal = request.take_body(connection.input.data(), connection.input.size(), taken);
    connection.input.erase(0, taken);
    count_buffered(connection);
    if (refusal == assay_refusal_none && buffered > limits.buffered_bytes) refusal = assay_refusal_too_many_bytes;
    if (refusal != assay_refusal_none) {
        refuse(connection, refusal, true);
        return true;
    }
    if (request.is_done()) return hand_over(connection);
    if (connection.is_input_ended) {
        close(connection);
        return false;
    }
    await_input(connection);
    return false;
}

inline bool Listener::hand_over(Connection &connection) {
    connection.began = SteadyClock::now();
    // What was read last may have been a whole `scratch`; nothing is read while the handler runs.
    if (connection.input.empty()) std::string().swap(connection.input);
    if (handling >= limits.requests) {
        // The request is whole, so the connection may go on: the client need not shake hands again to try again.
        refuse(connection, assay_refusal_too_many_requests, !connection.keeps_alive);
        return true;
    }
    handling += 1;
    connection.phase = Phase::handling;
    connection.deadline = Moment::max();
    connection.has_told_left = false;
    add_event(assay_event_request, connection);
    if (connection.is_input_ended) {
        leave(connection, false);
    } else {
        await_input(connection);
    }
    return false;
}

}  // namespace assay
