// Requests as clients might send them: whatever arrives, in whatever pieces, is understood in one way or refused.
//
// The first byte of an input decides the pieces, the rest is what the client sends. Parsed whole and parsed in pieces,
// it must give the same requests and be refused or not, and a request that is handed over must keep what it promises.
#include "HeadScan.hpp"
#include "RequestParser.hpp"

#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

namespace {

constexpr assay_limits limits{.header_bytes = 1024, .header_fields = 16, .body_bytes = 2048};

void require(bool holds, const char *claim) {
    if (holds) return;
    std::fprintf(stderr, "broken promise: %s\n", claim);
    std::abort();
}

/// What one client's bytes are taken for: requests, and in the end perhaps a refusal.
class Client {
public:
    void send(std::string_view bytes) {
        input.append(bytes);
        while (refusal == assay_refusal_none && advance()) {}
    }

    std::vector<std::string> requests;
    assay_refusal refusal = assay_refusal_none;

private:
    /// False when more bytes are needed.
    bool advance() {
        if (request) {
            std::size_t taken = 0;
            refusal = request->take_body(input.data(), input.size(), taken);
            require(taken <= input.size(), "no more is taken than there is");
            input.erase(0, taken);
            if (refusal != assay_refusal_none || !request->is_done()) return false;
        } else {
            if (!scan.finds_end(input.data(), input.size(), limits)) {
                refusal = scan.refusal;
                return false;
            }
            require(scan.position <= limits.header_bytes, "a head keeps to its limit");
            request = std::make_unique<assay::RequestParser>(limits);
            refusal = request->take_head(input.data(), scan.position);
            input.erase(0, scan.position);
            scan = {};
            if (refusal != assay_refusal_none) return false;
        }
        if (request->is_done()) finish();
        return !input.empty();
    }

    void finish() {
        std::string text(request->method);
        text += ' ';
        text += request->target;
        unsigned hosts = 0;
        for (const assay_field &field : request->fields) {
            const std::string_view name(field.name.start, field.name.count);
            const std::string_view value(field.value.start, field.value.count);
            require(!name.empty(), "a field has a name");
            for (const unsigned char byte : std::string(name) + std::string(value)) {
                require((byte >= 0x20 && byte != 0x7F) || byte == '\t', "a field has no control bytes");
            }
            require(name.find_first_of(" \t:") == name.npos, "a name is a token");
            require(value.empty() || (value.front() != ' ' && value.back() != ' '), "a value is trimmed");
            if (boost::beast::iequals(boost::beast::string_view(name.data(), name.size()), "host")) hosts += 1;
            text += '\n';
            text += name;
            text += ':';
            text += value;
        }
        require(hosts == 1 || (hosts == 0 && request->is_version_1_0()), "there is one Host");
        require(request->fields.size() <= limits.header_fields, "the fields keep to their limit");
        require(request->body.size() <= limits.body_bytes, "a body keeps to its limit");
        for (const unsigned char byte : request->target) {
            require(byte > 0x20 && byte < 0x7F && byte != '#', "a target is clean");
        }
        requests.push_back(text + '\n' + request->body);
        request.reset();
    }

    std::string input;
    assay::HeadScan scan;
    std::unique_ptr<assay::RequestParser> request;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *start, std::size_t count) {
    if (count == 0) return 0;
    const std::string_view bytes(reinterpret_cast<const char *>(start + 1), count - 1);
    Client whole;
    whole.send(bytes);
    Client pieces;
    std::uint32_t state = start[0];
    for (std::size_t position = 0; position < bytes.size();) {
        state = state * 1664525 + 1013904223;
        const std::size_t most = start[0] % 2 == 0 ? 4 : 64;
        const std::string_view piece = bytes.substr(position, 1 + (state >> 16) % most);
        pieces.send(piece);
        position += piece.size();
    }
    require(whole.requests == pieces.requests, "pieces make the same requests");
    // Two faults may be found in another order.
    const bool is_refused = whole.refusal != assay_refusal_none;
    require(is_refused == (pieces.refusal != assay_refusal_none), "pieces are refused alike");
    return 0;
}
