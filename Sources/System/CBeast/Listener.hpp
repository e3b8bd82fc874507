// The listener: accepts, reads, hands requests over, writes answers, and keeps the limits. One thread runs it.
#pragma once

#include "Connection.hpp"

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include <array>
#include <cstdint>
#include <ctime>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace assay {

/// An answer as another thread left it.
struct Answer {
    std::uint32_t slot = 0;
    std::uint32_t generation = 0;
    int status = 0;
    std::string head;
    std::string body;
    bool has_date = false;
    std::uint64_t stream = 0;

    static Answer copy(const assay_answer &answer, std::uint32_t slot, std::uint32_t generation) {
        return {
            slot, generation, answer.status, std::string(answer.head.start, answer.head.count),
            std::string(answer.body.start, answer.body.count), answer.has_date, answer.stream
        };
    }
};

/// A part of a stream as another thread left it.
struct Part {
    std::uint32_t slot = 0;
    std::uint32_t generation = 0;
    std::uint64_t stream = 0;
    assay_part_kind kind = assay_part_more;
    std::string bytes;
};

class Listener {
public:
    explicit Listener(const assay_limits &limits);

    void set_refusal(assay_refusal why, Answer &&answer) { refusals[why] = std::move(answer); }
    boost::system::error_code listen(const char *address, std::uint16_t port);
    std::uint16_t port() const { return bound_port; }
    void next(bool waits, assay_event &event);
    void post(Answer &&answer);
    void post(Part &&part);
    void stop();

private:
    using Error = boost::system::error_code;

    // Accepting.
    static assay_limits within_descriptors(assay_limits limits);
    void await_client();
    void accept_clients();
    bool accept_client();
    void open(int descriptor, const tcp::endpoint &peer);
    void close(Connection &connection);
    Connection *find(std::uint32_t slot, std::uint32_t generation);

    // Reading.
    void await_input(Connection &connection);
    void take_input(Connection &connection);
    void watch(Connection &connection);
    void discard(Connection &connection);
    void leave(Connection &connection, bool is_lost);

    // From phase to phase.
    void pump(Connection &connection);
    bool begin_request(Connection &connection);
    bool parse_head(Connection &connection);
    bool parse_body(Connection &connection);
    bool hand_over(Connection &connection);

    // Writing.
    void refuse(Connection &connection, assay_refusal why, bool closes);
    void announce_inbox();
    void take_inbox();
    void answer(Answer &&answer);
    void hang_up(Connection &connection);
    void prepare_output(
        Connection &connection, int status, std::string &&head, std::string &&body, bool has_date = false,
        std::uint64_t stream = 0
    );
    bool write(Connection &connection);
    bool finish_output(Connection &connection);
    void await_room(Connection &connection);
    const std::string &date_line();

    // Streaming.
    void begin_stream(Connection &connection, Answer &&answer);
    void go_on(Part &&part);
    void put_part(Connection &connection, std::string &&bytes);
    void end_stream(Connection &connection, assay_stream_end why);
    bool finish_part(Connection &connection);
    void break_off(Connection &connection, assay_stream_end why);
    void tell_streamed(Connection &connection, assay_stream_end why);

    // Time.
    void await_tick();
    void tick();
    void expire(Connection &connection);
    void begin_drain();
    void set_deadline(Connection &connection, std::uint32_t milliseconds);
    void count_buffered(Connection &connection);

    assay_event &add_event(assay_event_kind kind, const Connection &connection);
    bool is_over() const { return is_draining && live == 0 && handling == 0; }

    /// More connections than `limits.connections`, each of them being told 503; the rest wait in the kernel's queue.
    static constexpr std::uint32_t spare_connections = 64;
    /// The most that is read from a client that sends on after its last answer, beside a body of the longest that is
    /// allowed: who sends a little more than that is to read that it was too much.
    static constexpr std::uint64_t discarded_bytes_max = 4 << 20;
    /// A reader must take this much in each `write_duration`, or all that is left.
    static constexpr std::size_t output_step = 4096;

    const assay_limits limits;
    const std::chrono::milliseconds tick_interval;
    std::array<Answer, assay_refusal_count> refusals;

    boost::asio::io_context io{1};
    boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work{io.get_executor()};
    tcp::acceptor acceptor{io};
    boost::asio::steady_timer timer{io};
    std::uint16_t bound_port = 0;
    bool is_accept_awaited = false;
    bool is_accept_paused = false;
    bool is_tick_awaited = false;
    bool is_draining = false;
    Moment drain_deadline = Moment::max();

    std::vector<std::unique_ptr<Connection>> slots;
    std::vector<std::uint32_t> generations;
    std::vector<std::uint32_t> free_slots;
    /// Closed in the handler that is running, which may still look at them.
    std::vector<std::unique_ptr<Connection>> buried;
    std::uint32_t live = 0;
    /// Handed over and not answered, whether or not the client is still there.
    std::uint32_t handling = 0;
    /// Read and waiting, in the hands of handlers, and not yet written.
    std::uint64_t buffered = 0;
    /// What of that is held for requests whose clients have left before the answer, by slot and generation.
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint64_t> orphaned;

    std::deque<assay_event> events;
    /// Whose request was handed over last: it may be freed when the next event is asked for.
    std::uint32_t delivered_slot = 0;
    std::uint32_t delivered_generation = 0;
    bool has_delivered = false;

    /// One read's worth; connections keep only what was read.
    std::array<char, 64 << 10> scratch;
    std::time_t date_second = 0;
    std::string date;

    std::mutex inbox_lock;
    std::vector<Answer> inbox;
    std::vector<Part> part_inbox;
    bool is_inbox_announced = false;
};

}  // namespace assay
