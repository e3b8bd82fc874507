// Finds the end of a request's head, and refuses at the first byte what no head may contain.
#pragma once

#include "CBeast.h"

#include <cstddef>
#include <cstdint>

namespace assay {

/// Looks at every byte of a head once, however it arrives.
///
/// Beast's parser takes folded lines and counts its limit from the last whole line only, so a head is shown to it
/// only when it is complete and this scan has found nothing wrong. RFC 9112 § 2.2, § 5.2; RFC 9110 § 5.5.
class HeadScan {
public:
    /// Goes on where the last call ended. `text` starts with the head's first byte.
    /// True when the head is complete; false with `refusal` set, or when it needs more.
    bool finds_end(const char *text, std::size_t count, const assay_limits &limits) {
        while (position < count) {
            const auto byte = static_cast<unsigned char>(text[position]);
            position += 1;
            if (position > limits.header_bytes) {
                refusal = lines == 0 ? assay_refusal_target_too_long : assay_refusal_header_too_large;
                return false;
            }
            if (after_return != (byte == '\n')) return refuse();
            after_return = byte == '\r';
            if (byte == '\n') {
                if (line_bytes == 0) return true;
                line_bytes = 0;
                lines += 1;
                // The request line is the first, so this is one field too many.
                if (lines > limits.header_fields + 1) {
                    refusal = assay_refusal_header_too_large;
                    return false;
                }
            } else if (byte != '\r') {
                const bool is_space = byte == ' ' || byte == '\t';
                if ((byte < 0x20 && byte != '\t') || byte == 0x7F || (line_bytes == 0 && is_space)) return refuse();
                line_bytes += 1;
            }
        }
        return false;
    }

    /// How many bytes were looked at; once the end is found, the head's length.
    std::size_t position = 0;
    assay_refusal refusal = assay_refusal_none;

private:
    bool refuse() {
        refusal = lines == 0 ? assay_refusal_request_line : assay_refusal_field;
        return false;
    }

    std::size_t line_bytes = 0;
    std::uint32_t lines = 0;
    bool after_return = false;
};

}  // namespace assay
