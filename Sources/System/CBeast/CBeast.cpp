// The one translation unit: the listener's clock and loop, and the C functions around it.
#include "Accepting.hpp"
#include "Reading.hpp"
#include "Writing.hpp"

#include <poll.h>

#include <cstring>

namespace assay {

void Listener::set_deadline(Connection &connection, std::uint32_t milliseconds) {
    connection.deadline = SteadyClock::now() + std::chrono::milliseconds(milliseconds);
}

void Listener::count_buffered(Connection &connection) {
    const std::size_t body = connection.request ? connection.request->body.size() : 0;
    const std::uint64_t now =
        connection.input.size() + body + connection.handed_bytes + connection.output_bytes();
    buffered = buffered - connection.buffered + now;
    connection.buffered = now;
}

assay_event &Listener::add_event(assay_event_kind kind, const Connection &connection) {
    assay_event &event = events.emplace_back();
    event = {};
    event.kind = kind;
    event.slot = connection.slot;
    event.generation = connection.generation;
    event.port = connection.peer.port();
    const auto address = connection.peer.address();
    const auto fill = [&event](const auto &bytes) {
        std::memcpy(event.address, bytes.data(), bytes.size());
        event.address_bytes = static_cast<std::uint8_t>(bytes.size());
    };
    if (address.is_v4()) {
        fill(address.to_v4().to_bytes());
    } else {
        fill(address.to_v6().to_bytes());
    }
    return event;
}

void Listener::await_tick() {
    if (is_tick_awaited) return;
    is_tick_awaited = true;
    timer.expires_after(tick_interval);
    timer.async_wait([this](const Error &) {
        is_tick_awaited = false;
        tick();
    });
}

/// Deadlines are looked up, not scheduled: ten thousand connections are read through in microseconds, and a timer for
/// each would cost more memory than an idle connection.
void Listener::tick() {
    const Moment now = SteadyClock::now();
    for (std::size_t slot = 0; slot < slots.size(); slot += 1) {
        if (!slots[slot]) continue;
        Connection &connection = *slots[slot];
        if (now >= drain_deadline) {
            close(connection);
        } else if (connection.phase == Phase::handling || connection.phase == Phase::streaming) {
            if (connection.is_read_awaited || connection.is_input_ended) continue;
            pollfd look{connection.socket.native_handle(), POLLRDHUP, 0};
            if (::poll(&look, 1, 0) == 1) leave(connection, (look.revents & (POLLERR | POLLHUP)) != 0);
        } else if (now >= connection.deadline) {
            expire(connection);
        }
    }
    buried.clear();
    if (is_accept_paused) await_client();
    if (live > 0 || is_accept_paused) await_tick();
}

void Listener::expire(Connection &connection) {
    Error ignored;
    if (connection.phase == Phase::head) {
        refuse(connection, assay_refusal_header_too_slow, true);
        pump(connection);
    } else if (connection.phase == Phase::body) {
        refuse(connection, assay_refusal_body_too_slow, true);
        pump(connection);
    } else if (connection.phase == Phase::idle && connection.socket.available(ignored) > 0) {
        take_input(connection);  // The request was in time; we are late.
    } else if (connection.stream != 0) {
        break_off(connection, assay_stream_too_slow);
    } else {
        close(connection);
    }
}

void Listener::begin_drain() {
    if (is_draining) return;
    is_draining = true;
    drain_deadline = SteadyClock::now() + std::chrono::milliseconds(limits.drain_duration);
    // Clients whose handshake is done count on an answer: they are let in before the door is shut.
    while (accept_client()) {}
    Error ignored;
    acceptor.close(ignored);
    is_accept_paused = false;
    for (std::size_t slot = 0; slot < slots.size(); slot += 1) {
        if (!slots[slot]) continue;
        Connection &connection = *slots[slot];
        if (connection.phase == Phase::streaming) {
            end_stream(connection, assay_stream_stopped);
            pump(connection);
        } else if (connection.phase == Phase::idle) {
            // A request may be on its way: not closed at once.
            set_deadline(connection, limits.drain_idle_duration);
        }
    }
}

void Listener::stop() {
    boost::asio::post(io, [this] { begin_drain(); });
}

void Listener::next(bool waits, assay_event &event) {
    if (has_delivered) {
        has_delivered = false;
        Connection *const found = find(delivered_slot, delivered_generation);
        if (found != nullptr && found->phase == Phase::handling) {
            found->handed_bytes = found->request->body.size();
            found->release_request();
            count_buffered(*found);
        }
    }
    for (;;) {
        while (!events.empty()) {
            event = events.front();
            events.pop_front();
            if (event.kind != assay_event_request) return;
            Connection *const found = find(event.slot, event.generation);
            if (found == nullptr || !found->request) {
                handling -= 1;  // Lost before it was seen: nobody will answer it.
                continue;
            }
            const RequestParser &request = *found->request;
            event.method = {request.method.data(), request.method.size()};
            event.target = {request.target.data(), request.target.size()};
            event.fields = request.fields.data();
            event.field_count = request.fields.size();
            event.body = {request.body.data(), request.body.size()};
            has_delivered = true;
            delivered_slot = event.slot;
            delivered_generation = event.generation;
            return;
        }
        event = {};
        if (is_over()) {
            event.kind = assay_event_ended;
            return;
        }
        if (waits) {
            io.run_one();
        } else if (io.poll_one() == 0) {
            return;
        }
        buried.clear();
    }
}

}  // namespace assay

struct assay_listener_state {
    explicit assay_listener_state(const assay_limits &limits) : listener(limits) {}

    assay::Listener listener;
};

assay_listener assay_create(const struct assay_limits *limits) noexcept {
    return {new assay_listener_state(*limits)};
}

void assay_set_refusal(assay_listener listener, enum assay_refusal why, const struct assay_answer *answer) noexcept {
    listener.state->listener.set_refusal(why, assay::Answer::copy(*answer, 0, 0));
}

int32_t assay_listen(assay_listener listener, const char *address, uint16_t port) noexcept {
    return listener.state->listener.listen(address, port).value();
}

uint16_t assay_port(assay_listener listener) noexcept {
    return listener.state->listener.port();
}

void assay_next(assay_listener listener, bool waits, struct assay_event *event) noexcept {
    listener.state->listener.next(waits, *event);
}

void assay_answer_request(
    assay_listener listener, uint32_t slot, uint32_t generation, const struct assay_answer *answer
) noexcept {
    listener.state->listener.post(assay::Answer::copy(*answer, slot, generation));
}

void assay_send_part(
    assay_listener listener, uint32_t slot, uint32_t generation, const struct assay_part *part
) noexcept {
    listener.state->listener.post(
        assay::Part{slot, generation, part->stream, part->kind, std::string(part->bytes.start, part->bytes.count)}
    );
}

void assay_stop(assay_listener listener) noexcept {
    listener.state->listener.stop();
}

void assay_free(assay_listener listener) noexcept {
    delete listener.state;
}
