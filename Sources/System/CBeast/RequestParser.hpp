// One request: Beast's parser, and what RFC 9112 asks for beyond it.
#pragma once

#include "CBeast.h"

// Beast asserts that a last chunk arrives in pieces of five bytes or more, which a slow client need not do; the code
// after that assertion is right without it.
#define BOOST_DISABLE_ASSERTS 1
#include <boost/beast/http/basic_parser.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace assay {

namespace http = boost::beast::http;
using boost::beast::error_code;
using text_view = boost::beast::string_view;

/// Collects a request's head and body; trailers are checked and dropped.
class RequestParser final : public http::basic_parser<true> {
public:
    explicit RequestParser(const assay_limits &limits) : trailer_bytes_max(limits.header_bytes) {
        header_limit(UINT32_MAX);  // HeadScan has counted already.
        body_limit(limits.body_bytes);
    }

    /// Parses a whole head, as HeadScan found it.
    assay_refusal take_head(const char *bytes, std::size_t count) {
        head.assign(bytes, count);
        error_code error;
        const std::size_t taken = put(boost::asio::const_buffer(head.data(), head.size()), error);
        if (refusal != assay_refusal_none) return refusal;
        if (error == http::error::bad_version) return version_refusal();
        if (error && error != http::error::body_limit) return refusal_for(error);
        if (const auto found = check_fields(); found != assay_refusal_none) return found;
        if (error == http::error::body_limit) return assay_refusal_body_too_large;
        return taken == head.size() ? assay_refusal_none : assay_refusal_field;
    }

    /// Parses what is there of the body, and says in `taken` how much of it.
    assay_refusal take_body(const char *bytes, std::size_t count, std::size_t &taken) {
        taken = 0;
        input_end = bytes + count;
        while (taken < count && !is_done()) {
            part_start = bytes + taken;
            if (chunked() && chunk_bytes_left == 0) {
                const ChunkLine line = look_at_chunk_line();
                if (line == ChunkLine::wrong) return assay_refusal_chunk;
                if (line == ChunkLine::incomplete) return assay_refusal_none;
            }
            error_code error;
            const std::size_t step = put(boost::asio::const_buffer(part_start, count - taken), error);
            taken += step;
            if (refusal != assay_refusal_none) return refusal;
            if (error && error != http::error::need_more) return refusal_for(error);
            if (error || step == 0) break;
        }
        // Only trailers are left until they are complete.
        return !is_done() && count - taken > trailer_bytes_max ? assay_refusal_header_too_large : assay_refusal_none;
    }

    bool is_version_1_0() const { return version == 10; }

    std::string head;
    std::string body;
    std::vector<assay_field> fields;
    text_view method;
    text_view target;
    bool expects_continue = false;

private:
    /// All the bytes of chunk extensions in one request: they are read and forgotten, so they are work for nothing.
    static constexpr std::size_t extension_bytes_max = 4096;

    void on_request_impl(http::verb, text_view verb, text_view where, int number, error_code &error) override {
        method = verb;
        target = where;
        version = number;
        if (!is_target()) refuse(assay_refusal_target, error);
    }

    void on_response_impl(int, text_view, int, error_code &) override {}

    void on_field_impl(http::field field, text_view name, text_view value, error_code &error) override {
        if (is_header_complete) return;  // A trailer.
        fields.push_back({{name.data(), name.size()}, {value.data(), value.size()}});
        switch (field) {
        case http::field::host:
            hosts += 1;
            if (hosts > 1 || !is_host(value)) refuse(assay_refusal_host, error);
            break;
        case http::field::content_length:
            // Beast takes a list of equal lengths, and the field twice. A proxy in front may read either otherwise.
            lengths += 1;
            if (lengths > 1 || value.find(',') != text_view::npos) refuse(assay_refusal_body_length, error);
            break;
        case http::field::transfer_encoding:
            if (version == 10) {
                refuse(assay_refusal_body_length, error);
            } else if (!boost::beast::iequals(value, "chunked")) {
                refuse(assay_refusal_transfer_coding, error);
            }
            break;
        case http::field::expect:
            if (version == 10) break;  // RFC 9110 § 10.1.1: to be ignored.
            if (!boost::beast::iequals(value, "100-continue")) refuse(assay_refusal_expectation, error);
            expects_continue = true;
            break;
        default:
            break;
        }
    }

    void on_header_impl(error_code &) override { is_header_complete = true; }

    void on_body_init_impl(const boost::optional<std::uint64_t> &, error_code &) override {}

    std::size_t on_body_impl(text_view bytes, error_code &) override {
        body.append(bytes.data(), bytes.size());
        return bytes.size();
    }

    void on_chunk_header_impl(std::uint64_t size, text_view extensions, error_code &error) override {
        extension_bytes += extensions.size();
        if (extension_bytes > extension_bytes_max) refuse(assay_refusal_chunk, error);
        chunk_bytes_left = size;
        is_after_chunk = true;
        if (size == 0) check_trailers(extensions.data() + extensions.size(), error);
    }

    std::size_t on_chunk_body_impl(std::uint64_t, text_view bytes, error_code &) override {
        body.append(bytes.data(), bytes.size());
        chunk_bytes_left -= bytes.size();
        return bytes.size();
    }

    void on_finish_impl(error_code &) override {}

    enum class ChunkLine { incomplete, complete, wrong };

    /// Looks at a chunk's size and extensions, after the CRLF that ends the chunk before.
    ///
    /// Beast is shown the line only when it is complete: it would take any byte inside quotes, look for the closing
    /// quote beyond the line, and count a chunk again for each piece in which the line arrives.
    ChunkLine look_at_chunk_line() const {
        const std::string_view rest(part_start, static_cast<std::size_t>(input_end - part_start));
        const std::size_t start = is_after_chunk ? 2 : 0;
        const std::string_view chunk_end = std::string_view("\r\n").substr(0, std::min(start, rest.size()));
        if (!rest.starts_with(chunk_end)) return ChunkLine::wrong;
        bool is_quoted = false;
        bool is_escaped = false;
        for (std::size_t at = start; at < rest.size(); at += 1) {
            const auto byte = static_cast<unsigned char>(rest[at]);
            if (at - start > extension_bytes_max) return ChunkLine::wrong;
            if (byte == '\r') {
                if (is_quoted) return ChunkLine::wrong;
                if (at + 1 == rest.size()) return ChunkLine::incomplete;
                return rest[at + 1] == '\n' ? ChunkLine::complete : ChunkLine::wrong;
            }
            if ((byte < 0x20 && byte != '\t') || byte == 0x7F) return ChunkLine::wrong;
            if (byte == '"' && !is_escaped) is_quoted = !is_quoted;
            is_escaped = is_quoted && byte == '\\' && !is_escaped;
        }
        return ChunkLine::incomplete;
    }

    /// Looks at the trailers, from the CRLF at `line_end` on. Beast has made sure that the empty line that ends them is
    /// there, and would unfold folded lines, which are as wrong here as in the head.
    void check_trailers(const char *line_end, error_code &error) {
        std::string_view rest(line_end, static_cast<std::size_t>(input_end - line_end));
        rest = rest.substr(0, rest.find("\r\n\r\n"));
        const auto bytes = static_cast<std::size_t>(rest.data() + rest.size() + 4 - part_start);
        if (bytes > trailer_bytes_max) refuse(assay_refusal_header_too_large, error);
        for (std::size_t at = rest.find('\n'); at != rest.npos && at + 1 < rest.size(); at = rest.find('\n', at + 1)) {
            if (rest[at + 1] == ' ' || rest[at + 1] == '\t') refuse(assay_refusal_field, error);
        }
    }

    /// RFC 9112 § 3.2: a path, the whole address that a proxy sends, or `*`. ASCII, and no fragment.
    bool is_target() const {
        const bool is_clean = std::all_of(target.begin(), target.end(), [](unsigned char byte) {
            return byte > 0x20 && byte < 0x7F && byte != '#';
        });
        const bool has_form = target.front() == '/' || target.starts_with("http://") || target.starts_with("https://")
            || (target == "*" && method == "OPTIONS");
        return is_clean && has_form;
    }

    /// RFC 9112 § 3.2: an invalid Host is a bad request. Empty is valid.
    static bool is_host(text_view value) {
        return std::all_of(value.begin(), value.end(), [](unsigned char byte) {
            constexpr std::string_view foreign = ",/?#@\\\"<>^`{|}";
            return byte > 0x20 && byte < 0x7F && foreign.find(static_cast<char>(byte)) == foreign.npos;
        });
    }

    assay_refusal check_fields() const {
        return version == 11 && hosts == 0 ? assay_refusal_host : assay_refusal_none;
    }

    void refuse(assay_refusal why, error_code &error) {
        if (refusal == assay_refusal_none) refusal = why;
        error = http::error::bad_field;
    }

    /// A well-formed version that is not ours is another answer than no version at all.
    assay_refusal version_refusal() const {
        const std::string_view text(head);
        const std::string_view line = text.substr(0, text.find('\r'));
        const std::string_view last = line.substr(line.find_last_of(' ') + 1);
        const auto is_digit = [](char byte) { return byte >= '0' && byte <= '9'; };
        const bool is_version = last.size() == 8 && last.starts_with("HTTP/") && is_digit(last[5]) && last[6] == '.'
            && is_digit(last[7]);
        const bool is_ours = last == "HTTP/1.0" || last == "HTTP/1.1";
        return is_version && !is_ours ? assay_refusal_version : assay_refusal_request_line;
    }

    static assay_refusal refusal_for(const error_code &error) {
        if (error == http::error::bad_method || error == http::error::bad_version) return assay_refusal_request_line;
        if (error == http::error::bad_target) return assay_refusal_request_line;
        if (error == http::error::bad_content_length || error == http::error::multiple_content_length
            || error == http::error::bad_transfer_encoding) {
            return assay_refusal_body_length;
        }
        if (error == http::error::bad_chunk || error == http::error::bad_chunk_extension
            || error == http::error::bad_line_ending) {
            return assay_refusal_chunk;
        }
        if (error == http::error::body_limit) return assay_refusal_body_too_large;
        return assay_refusal_field;
    }

    const std::size_t trailer_bytes_max;
    int version = 0;
    unsigned hosts = 0;
    unsigned lengths = 0;
    std::size_t extension_bytes = 0;
    std::uint64_t chunk_bytes_left = 0;
    bool is_after_chunk = false;
    /// What `put` is given in `take_body`.
    const char *part_start = nullptr;
    const char *input_end = nullptr;
    bool is_header_complete = false;
    assay_refusal refusal = assay_refusal_none;
};

}  // namespace assay
