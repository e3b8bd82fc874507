import Encoding

/// Tables in text, as they are imported: records out of a stream, fields out of records, whatever pieces they come in.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzTable(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = fuzzInput(start, count)
    for delimiter in [UInt8(ascii: ","), UInt8(ascii: ";"), nil] {
        // Short ones, so that records are too long, and long ones; in three pieces as at once.
        for bytesMax in [16, 65_536] {
            let whole = records(of: [bytes], delimiter, bytesMax)
            let (third, twoThirds) = (count / 3, count * 2 / 3)
            let pieces = [Array(bytes[..<third]), Array(bytes[third..<twoThirds]), Array(bytes[twoThirds...])]
            let again = records(of: pieces, delimiter, bytesMax)
            precondition(whole == again, "other records in other pieces")
            check(whole, of: bytes, bytesMax)
            for record in whole where !record.isTooLong { readFields(record.bytes, delimiter) }
        }
    }
    return 0
}

private func records(of pieces: [[UInt8]], _ delimiter: UInt8?, _ bytesMax: Int) -> [RecordSplitter.Record] {
    var splitter = RecordSplitter(bytesMax: bytesMax, delimiter: delimiter)
    let records = pieces.flatMap { splitter.feed($0) }
    return records + [splitter.finish()].compactMap(\.self)
}

/// Each begins where the one before ended, and what is left at the end is nothing.
private func check(_ records: [RecordSplitter.Record], of bytes: [UInt8], _ bytesMax: Int) {
    var (place, line): (Int64, Int64) = (0, 1)
    for record in records {
        precondition(record.end > place && record.line == line, "a record that begins elsewhere")
        precondition(record.line <= record.lastLine && record.lastLine <= record.lineAfter, "a record on no line")
        precondition(record.bytes.count <= bytesMax && !(record.isTooLong && !record.bytes.isEmpty), "too long")
        if !record.isTooLong {
            precondition(bytes[Int(place)...].starts(with: record.bytes), "a record that is not what stands there")
        }
        (place, line) = (record.end, record.lineAfter)
    }
    precondition(place == Int64(bytes.count), "bytes that are in no record")
}

private func readFields(_ record: [UInt8], _ delimiter: UInt8?) {
    _ = try? DelimitedText.fields(of: record, .tabs)
    guard let delimiter, let fields = try? DelimitedText.fields(of: record, .quoted(delimiter: delimiter)) else {
        return
    }
    precondition(fields.count <= DelimitedText.fieldsMax, "more fields than any table has")
    let written = DelimitedText.record(of: fields)
    let again = records(of: [written], UInt8(ascii: ","), written.count + 1)
    precondition(again.count == 1, "a record that became several")
    let read = again.first.flatMap { try? DelimitedText.fields(of: $0.bytes, .quoted(delimiter: UInt8(ascii: ","))) }
    precondition(read == fields, "what was written is not what was read")
}
