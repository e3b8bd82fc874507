// The listener's door: opening it, taking clients, letting them go.
#pragma once

#include "Listener.hpp"

#include <boost/asio/ip/address.hpp>
#include <boost/asio/ip/v6_only.hpp>

#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>

namespace assay {

/// The connections that the process has descriptors for, when that is fewer than asked for. Some are left for files,
/// and for Dispatch, which stops the process when it gets none.
inline assay_limits Listener::within_descriptors(assay_limits limits) {
    constexpr rlim_t others = 64 + spare_connections;
    rlimit descriptors{};
    if (getrlimit(RLIMIT_NOFILE, &descriptors) != 0 || descriptors.rlim_cur == RLIM_INFINITY) return limits;
    const rlim_t most = descriptors.rlim_cur > 2 * others ? descriptors.rlim_cur - others : descriptors.rlim_cur / 2;
    limits.connections = static_cast<std::uint32_t>(std::min<rlim_t>(limits.connections, std::max<rlim_t>(most, 1)));
    return limits;
}

/// Often enough for the shortest limit, seldom enough to cost nothing.
inline std::chrono::milliseconds tick_interval_for(const assay_limits &limits) {
    const std::uint32_t shortest = std::min({
        limits.header_duration, limits.body_duration, limits.idle_duration, limits.write_duration,
        limits.linger_duration, limits.drain_idle_duration, limits.drain_duration
    });
    return std::chrono::milliseconds(std::clamp<std::uint32_t>(shortest / 8, 10, 200));
}

inline Listener::Listener(const assay_limits &wanted)
    : limits(within_descriptors(wanted)), tick_interval(tick_interval_for(wanted)) {}

inline boost::system::error_code Listener::listen(const char *address, std::uint16_t port) {
    Error error;
    const auto host = boost::asio::ip::make_address(address, error);
    if (error) return error;
    const tcp::endpoint endpoint(host, port);
    // Asio's own sockets are inherited by the programs that we start, which would keep port and connections open.
    const int descriptor = ::socket(endpoint.protocol().family(), SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (descriptor < 0) return Error(errno, boost::system::system_category());
    if (acceptor.assign(endpoint.protocol(), descriptor, error)) {
        ::close(descriptor);
        return error;
    }
    if (acceptor.set_option(tcp::acceptor::reuse_address(true), error)) return error;
    if (host.is_v6() && acceptor.set_option(boost::asio::ip::v6_only(false), error)) return error;
    if (acceptor.bind(endpoint, error)) return error;
    if (acceptor.listen(boost::asio::socket_base::max_listen_connections, error)) return error;
    if (acceptor.non_blocking(true, error)) return error;
    bound_port = acceptor.local_endpoint(error).port();
    await_client();
    return error;
}

inline void Listener::await_client() {
    if (is_accept_awaited || !acceptor.is_open()) return;
    is_accept_awaited = true;
    is_accept_paused = false;
    acceptor.async_wait(tcp::acceptor::wait_read, [this](const Error &error) {
        is_accept_awaited = false;
        if (!error && acceptor.is_open()) accept_clients();
    });
}

inline void Listener::accept_clients() {
    constexpr int most = 64;  // Those who are already in have their turn between.
    for (int count = 0; count < most; count += 1) {
        if (!accept_client()) break;
    }
    if (!is_accept_paused) await_client();
}

/// False when nobody waits or nobody can be let in.
inline bool Listener::accept_client() {
    if (live >= limits.connections + spare_connections) {
        is_accept_paused = true;  // Until somebody leaves.
        return false;
    }
    tcp::endpoint peer;
    auto peer_bytes = static_cast<socklen_t>(peer.capacity());
    const int descriptor = ::accept4(
        acceptor.native_handle(), peer.data(), &peer_bytes, SOCK_NONBLOCK | SOCK_CLOEXEC
    );
    if (descriptor >= 0) {
        peer.resize(peer_bytes);
        open(descriptor, peer);
        return true;
    }
    const int error = errno;
    if (error == EAGAIN || error == EWOULDBLOCK) return false;
    if (error != EMFILE && error != ENFILE && error != ENOBUFS && error != ENOMEM) return true;  // This one client's.
    // The waiting client keeps the listener readable: to wait for it again at once would be to spin.
    is_accept_paused = true;
    await_tick();
    assay_event event{};
    event.kind = assay_event_exhausted;
    event.code = error;
    events.push_back(event);
    return false;
}

inline void Listener::open(int descriptor, const tcp::endpoint &peer) {
    tcp::socket socket(io);
    Error ignored;
    if (socket.assign(peer.protocol(), descriptor, ignored)) {
        ::close(descriptor);
        return;
    }
    socket.non_blocking(true, ignored);
    socket.set_option(tcp::no_delay(true), ignored);
    std::uint32_t slot = static_cast<std::uint32_t>(slots.size());
    if (free_slots.empty()) {
        slots.emplace_back();
        generations.push_back(0);
    } else {
        slot = free_slots.back();
        free_slots.pop_back();
    }
    slots[slot] = std::make_unique<Connection>(std::move(socket), slot, generations[slot]);
    live += 1;
    Connection &connection = *slots[slot];
    connection.peer = peer;
    add_event(assay_event_accepted, connection);
    set_deadline(connection, is_draining ? limits.drain_idle_duration : limits.header_duration);
    await_tick();
    if (live > limits.connections) refuse(connection, assay_refusal_too_many_connections, true);
    pump(connection);
}

inline void Listener::close(Connection &connection) {
    if (connection.phase == Phase::closed) return;
    if (connection.phase == Phase::handling && !connection.has_told_left) add_event(assay_event_left, connection);
    if (connection.stream != 0) {
        tell_streamed(connection, SteadyClock::now() < drain_deadline ? assay_stream_left : assay_stream_stopped);
    } else if (connection.phase == Phase::writing && connection.is_answering) {
        add_event(assay_event_unanswered, connection).code = connection.output_status;
    }
    if (connection.phase == Phase::handling && connection.handed_bytes > 0) {
        // Its client is gone, and its handler goes on.
        orphaned[{connection.slot, connection.generation}] = connection.handed_bytes;
        buffered += connection.handed_bytes;
    }
    connection.phase = Phase::closed;
    Error ignored;
    connection.socket.close(ignored);
    buffered -= connection.buffered;
    generations[connection.slot] += 1;
    free_slots.push_back(connection.slot);
    buried.push_back(std::move(slots[connection.slot]));
    live -= 1;
    if (is_accept_paused && !is_accept_awaited && live < limits.connections) await_client();
}

inline Connection *Listener::find(std::uint32_t slot, std::uint32_t generation) {
    if (slot >= slots.size() || !slots[slot] || slots[slot]->generation != generation) return nullptr;
    return slots[slot].get();
}

}  // namespace assay
