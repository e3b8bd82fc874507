// The listener's voice: answers from the handlers, its own refusals, and the careful end of a connection.
#pragma once

#include "Streaming.hpp"

#include <boost/asio/post.hpp>

namespace assay {

/// Answers a request without handing it over. After a request that was not read to its end nothing can follow.
inline void Listener::refuse(Connection &connection, assay_refusal why, bool closes) {
    const Answer &answer = refusals[why];
    add_event(assay_event_refused, connection).code = why;
    connection.keeps_alive = connection.keeps_alive && !closes;
    connection.is_answering = false;
    if (closes) connection.input.clear();
    prepare_output(connection, answer.status, std::string(answer.head), std::string(answer.body));
}

/// From any thread.
inline void Listener::post(Answer &&answer) {
    const std::lock_guard lock(inbox_lock);
    inbox.push_back(std::move(answer));
    announce_inbox();
}

/// From any thread.
inline void Listener::post(Part &&part) {
    const std::lock_guard lock(inbox_lock);
    part_inbox.push_back(std::move(part));
    announce_inbox();
}

/// Once for all that gathers until it is taken. The caller has the lock.
inline void Listener::announce_inbox() {
    if (is_inbox_announced) return;
    is_inbox_announced = true;
    boost::asio::post(io, [this] { take_inbox(); });
}

inline void Listener::take_inbox() {
    std::vector<Answer> answers;
    std::vector<Part> parts;
    {
        const std::lock_guard lock(inbox_lock);
        answers.swap(inbox);
        parts.swap(part_inbox);
        is_inbox_announced = false;
    }
    for (Answer &each : answers) answer(std::move(each));
    for (Part &each : parts) go_on(std::move(each));
}

inline void Listener::answer(Answer &&answer) {
    handling -= 1;
    if (const auto orphan = orphaned.find({answer.slot, answer.generation}); orphan != orphaned.end()) {
        buffered -= orphan->second;
        orphaned.erase(orphan);
    }
    Connection *const found = find(answer.slot, answer.generation);
    if (found == nullptr || found->phase != Phase::handling) {
        assay_event event{};
        event.kind = assay_event_unanswered;
        event.slot = answer.slot;
        event.generation = answer.generation;
        event.code = answer.status;
        events.push_back(event);
    } else if (answer.status == assay_status_hang_up) {
        found->handed_bytes = 0;
        hang_up(*found);
    } else if (answer.stream != 0) {
        begin_stream(*found, std::move(answer));
    } else {
        found->is_answering = true;
        prepare_output(*found, answer.status, std::move(answer.head), std::move(answer.body), answer.has_date);
        pump(*found);
    }
}

/// Resets the connection of a request that is to have no answer.
inline void Listener::hang_up(Connection &connection) {
    Error ignored;
    connection.socket.set_option(boost::asio::socket_base::linger(true, 0), ignored);
    add_event(assay_event_unanswered, connection).code = assay_status_hang_up;
    // The handler knows: nobody is to be told that the client left.
    connection.has_told_left = true;
    close(connection);
}

inline void Listener::prepare_output(
    Connection &connection, int status, std::string &&head, std::string &&body, bool has_date, std::uint64_t stream
) {
    connection.release_request();
    const bool is_bodiless = status == 204 || status == 304;
    const bool has_body = !connection.is_head_request && !is_bodiless;
    if (has_body) connection.stream = stream;
    // What has no length and no chunks ends with its connection.
    if (connection.stream != 0 && connection.is_version_1_0) connection.keeps_alive = false;
    // In a drain the last of the requests that the client has sent already is the last to be answered.
    const bool is_last = connection.is_input_ended || is_draining;
    connection.closes_after_output = !connection.keeps_alive || (is_last && connection.input.empty());
    connection.output_head = std::move(head);
    std::string &text = connection.output_head;
    if (!has_date) text += date_line();
    if (connection.stream != 0) {
        if (!connection.is_version_1_0) text += "Transfer-Encoding: chunked\r\n";
    } else if (!is_bodiless && stream == 0) {
        text += "Content-Length: " + std::to_string(body.size()) + "\r\n";
    }
    if (connection.closes_after_output) {
        text += "Connection: close\r\n";
    } else if (connection.is_version_1_0) {
        text += "Connection: keep-alive\r\n";
    }
    text += "\r\n";
    connection.output_body = has_body ? std::move(body) : std::string();
    connection.output_written = 0;
    connection.output_status = status;
    connection.phase = Phase::writing;
    connection.output_goal = output_step;
    set_deadline(connection, limits.write_duration);
    count_buffered(connection);
}

/// True when the output is written and the connection goes on.
inline bool Listener::write(Connection &connection) {
    const std::size_t total = connection.output_bytes();
    while (connection.output_written < total) {
        const std::string &head = connection.output_head;
        const std::string &body = connection.output_body;
        const std::size_t in_head = std::min(connection.output_written, head.size());
        const std::size_t in_body = connection.output_written - in_head;
        const std::array<boost::asio::const_buffer, 2> rest{
            boost::asio::buffer(head.data() + in_head, head.size() - in_head),
            boost::asio::buffer(body.data() + in_body, body.size() - in_body)
        };
        Error error;
        connection.output_written += connection.socket.write_some(rest, error);
        if (error == boost::asio::error::would_block || error == boost::asio::error::interrupted) {
            if (connection.output_written >= connection.output_goal) {
                connection.output_goal = connection.output_written + output_step;
                set_deadline(connection, limits.write_duration);
            }
            await_room(connection);
            return false;
        }
        if (error) {
            close(connection);
            return false;
        }
    }
    return finish_output(connection);
}

inline bool Listener::finish_output(Connection &connection) {
    if (connection.stream != 0 && finish_part(connection)) return connection.phase == Phase::writing;
    if (connection.is_answering) {
        assay_event &event = add_event(assay_event_answered, connection);
        event.code = connection.output_status;
        event.bytes = connection.output_bytes();
        event.microseconds = microseconds_since(connection.began);
        connection.is_answering = false;
    }
    connection.release_output();
    connection.handed_bytes = 0;
    count_buffered(connection);
    if (!connection.closes_after_output) {
        connection.phase = Phase::idle;
        set_deadline(connection, is_draining ? limits.drain_idle_duration : limits.idle_duration);
        return true;
    }
    // To close with bytes unread would reset the connection, and the client might lose the answer.
    Error error;
    connection.socket.shutdown(tcp::socket::shutdown_send, error);
    if (error || connection.is_input_ended) {
        close(connection);
        return false;
    }
    connection.phase = Phase::lingering;
    set_deadline(connection, limits.linger_duration);
    await_input(connection);
    return false;
}

inline void Listener::await_room(Connection &connection) {
    if (connection.is_write_awaited) return;
    connection.is_write_awaited = true;
    connection.socket.async_wait(
        tcp::socket::wait_write,
        [this, slot = connection.slot, generation = connection.generation](const Error &) {
            Connection *const found = find(slot, generation);
            if (found == nullptr) return;
            found->is_write_awaited = false;
            if (found->phase == Phase::writing) pump(*found);
        }
    );
}

/// RFC 9110 § 6.6.1.
inline const std::string &Listener::date_line() {
    const std::time_t now = std::time(nullptr);
    if (now == date_second && !date.empty()) return date;
    static constexpr const char *days[] = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
    static constexpr const char *months[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                             "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
    std::tm parts{};
    gmtime_r(&now, &parts);
    char text[64];
    const int count = std::snprintf(
        text, sizeof text, "Date: %s, %02d %s %d %02d:%02d:%02d GMT\r\n", days[parts.tm_wday], parts.tm_mday,
        months[parts.tm_mon], parts.tm_year + 1900, parts.tm_hour, parts.tm_min, parts.tm_sec
    );
    date.assign(text, static_cast<std::size_t>(count));
    date_second = now;
    return date;
}

}  // namespace assay
