// One client's connection: what was read and not yet parsed, what is to be written, and until when it may take.
#pragma once

#include "HeadScan.hpp"
#include "RequestParser.hpp"

#include <boost/asio/ip/tcp.hpp>

#include <chrono>
#include <memory>
#include <string>

namespace assay {

using tcp = boost::asio::ip::tcp;
using SteadyClock = std::chrono::steady_clock;
using Moment = SteadyClock::time_point;

inline std::uint64_t microseconds_since(Moment began) {
    const auto lasted = std::chrono::duration_cast<std::chrono::microseconds>(SteadyClock::now() - began);
    return static_cast<std::uint64_t>(lasted.count());
}

enum class Phase : std::uint8_t {
    idle,       // Between requests, or before the first.
    head,       // Some bytes of a head are there.
    body,       // The head is parsed, the body is not complete.
    handling,   // The request was handed over; its answer is awaited, and nothing more is parsed.
    writing,    // An answer, or a part of one, is on its way.
    streaming,  // All that there is of a stream is written; its next part is awaited.
    lingering,  // The last answer is written; what the client still sends is thrown away so that it can read it.
    closed
};

struct Connection {
    Connection(tcp::socket &&socket, std::uint32_t slot, std::uint32_t generation)
        : socket(std::move(socket)), slot(slot), generation(generation) {}

    std::size_t output_bytes() const { return output_head.size() + output_body.size(); }

    /// Forgets what was read; the memory too, for most connections are idle most of the time.
    void release_request() {
        request.reset();
        scan = {};
    }

    void release_output() {
        std::string().swap(output_head);
        std::string().swap(output_body);
        output_written = 0;
    }

    tcp::socket socket;
    tcp::endpoint peer;
    const std::uint32_t slot;
    const std::uint32_t generation;
    Phase phase = Phase::idle;
    /// A wait for something to read, or for room to write, is under way.
    bool is_read_awaited = false;
    bool is_write_awaited = false;
    /// Of the request that is being answered.
    bool keeps_alive = false;
    bool is_head_request = false;
    bool is_version_1_0 = false;
    /// The output answers a request that was handed over, not one that the listener refused.
    bool is_answering = false;
    /// Nothing may follow the output.
    bool closes_after_output = false;
    /// The client will send no more, and perhaps is gone.
    bool is_input_ended = false;
    bool has_told_left = false;
    bool has_skipped_empty_line = false;

    /// The answer is a stream, and this its number; 0 when there is none.
    std::uint64_t stream = 0;
    /// Its last part is on its way, and this is why.
    assay_stream_end stream_end = assay_stream_unended;
    /// Of its parts that were written.
    std::uint64_t streamed_bytes = 0;

    /// Read and not yet parsed.
    std::string input;
    HeadScan scan;
    std::unique_ptr<RequestParser> request;

    std::string output_head;
    std::string output_body;
    std::size_t output_written = 0;
    int output_status = 0;

    /// When the present phase is over, whatever trickles in. A running handler has none, nor a stream's source.
    Moment deadline = Moment::max();
    /// Bytes that must be written before `deadline`, so that it is moved on.
    std::size_t output_goal = 0;
    /// Of the body of the request that was handed over, which its handler may hold until the answer is written.
    std::uint64_t handed_bytes = 0;
    /// When the request was complete.
    Moment began;
    std::uint64_t discarded = 0;
    /// What this connection counts in the listener's buffered bytes.
    std::uint64_t buffered = 0;
};

}  // namespace assay
