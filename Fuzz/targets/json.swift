import Encoding

/// The JSON door: whatever passes can be walked to its end, and each part of it passes by itself.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzJSON(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    guard let document = try? JSONDocument(fuzzInput(start, count)) else { return 0 }
    walk(document.root)
    let again = try? JSONDocument(Array(document.root.raw))
    precondition(again.map { areEqual($0.root, document.root) } == true, "a value that does not pass by itself")
    return 0
}

/// As deep as the door lets anything pass.
private func walk(_ value: JSONValue) {
    _ = (value.string, value.int64, value.double, value.milliseconds, value.bool, value.raw.count)
    if let object = value.object {
        for (key, member) in object.members {
            precondition(object[key]?.offset == member.offset, "a member that its name does not find")
            walk(member)
        }
    }
    for element in value.array.map(Array.init) ?? [] { walk(element) }
}

private func areEqual(_ left: JSONValue, _ right: JSONValue) -> Bool {
    left.kind == right.kind && left.string == right.string && left.raw == right.raw
}
