/// Writes JSON text. What it cannot write is wrong JSON: members have a name, elements have none, and whatever was
/// opened is closed when its closure returns.
///
/// A member or element that is nil is left out; `null` is written only when asked for.
/// ```swift
/// let answer = JSONWriter.object { answer in
///     answer.member("status", "recorded")
///     answer.member("revoked_at", revokedAt)          // left out if nil
///     answer.array("items") { items in items.element("a") }
/// }
/// ```
package enum JSONWriter {
    package static func object<Failure: Error>(
        reserving bytesCount: Int = 256,
        _ body: (inout JSONObjectWriter) throws(Failure) -> Void
    ) throws(Failure) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(bytesCount)
        try object(onto: &bytes, body)
        return bytes
    }

    package static func array<Failure: Error>(
        reserving bytesCount: Int = 256,
        _ body: (inout JSONArrayWriter) throws(Failure) -> Void
    ) throws(Failure) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(bytesCount)
        try array(onto: &bytes, body)
        return bytes
    }

    /// An object that is to stand in several texts: it is written once, and copied.
    package static func written(
        reserving bytesCount: Int = 256,
        _ body: (inout JSONObjectWriter) -> Void
    ) -> WrittenObject {
        WrittenObject(bytes: object(reserving: bytesCount, body))
    }

    /// Appends an object to what is in `bytes`; if `body` throws, `bytes` is as before.
    package static func object<Failure: Error>(
        onto bytes: inout [UInt8],
        _ body: (inout JSONObjectWriter) throws(Failure) -> Void
    ) throws(Failure) {
        var writer = JSONObjectWriter(onto: &bytes)
        let start = writer.text.bytes.count
        do {
            writer.text.bytes.append(UInt8(ascii: "{"))
            try body(&writer)
        } catch {
            writer.text.bytes.removeSubrange(start...)
            swap(&bytes, &writer.text.bytes)
            throw error
        }
        writer.text.bytes.append(UInt8(ascii: "}"))
        swap(&bytes, &writer.text.bytes)
    }

    /// Appends an array to what is in `bytes`; if `body` throws, `bytes` is as before.
    package static func array<Failure: Error>(
        onto bytes: inout [UInt8],
        _ body: (inout JSONArrayWriter) throws(Failure) -> Void
    ) throws(Failure) {
        var writer = JSONArrayWriter(onto: &bytes)
        let start = writer.text.bytes.count
        do {
            writer.text.bytes.append(UInt8(ascii: "["))
            try body(&writer)
        } catch {
            writer.text.bytes.removeSubrange(start...)
            swap(&bytes, &writer.text.bytes)
            throw error
        }
        writer.text.bytes.append(UInt8(ascii: "]"))
        swap(&bytes, &writer.text.bytes)
    }
}

/// The text of one whole object, made by ``JSONWriter`` alone.
package struct WrittenObject: Sendable {
    let bytes: [UInt8]
}
