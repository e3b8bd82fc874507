import Encoding

/// Reads a secret from where not every user of the machine sees it: a member, or the file that `…_file` names.
struct SecretReader {
    let files: SettingsFiles
    /// Whether every user of the machine may read the text that the members stand in.
    let isWorldReadable: Bool

    /// The secret of a member or of its file; `nil` when neither is there, or it cannot be taken, which is a fault.
    func read(_ member: String, of object: JSONObject, at path: String, _ reader: inout MemberReader) -> [UInt8]? {
        let (here, there) = (object[member], object["\(member)_file"])
        switch (here, there) {
        case (nil, nil): return nil
        case (let value?, nil): return plain(value, at: "\(path).\(member)", &reader)
        case (nil, let value?):
            let path = "\(path).\(member)_file"
            return reader.text(value, at: path).flatMap { file($0, at: path, &reader) }
        case (_?, _?):
            reader.fault(path, "only one of \(member) and \(member)_file may be given")
            return nil
        }
    }

    /// A secret that stands in the text itself.
    func plain(_ value: JSONValue, at path: String, _ reader: inout MemberReader) -> [UInt8]? {
        guard let text = reader.text(value, at: path) else { return nil }
        if isWorldReadable { reader.fault(path, "every user of this machine can read it here; chmod 600 the file") }
        return Array(text.utf8)
    }

    /// What a file holds. Editors and `echo` end one with a line feed, which is not part of the secret.
    func file(_ name: String, at path: String, _ reader: inout MemberReader) -> [UInt8]? {
        do throws(SettingsFiles.Fault) {
            let content = try files.read(name)
            if content.isWorldReadable {
                reader.fault(path, "every user of this machine can read \(name); chmod 600 it")
            }
            let end = content.bytes.lastIndex { $0 != UInt8(ascii: "\n") && $0 != UInt8(ascii: "\r") }
            return Array(content.bytes.prefix((end ?? -1) + 1))
        } catch {
            reader.fault(path, "\(name): \(error)")
            return nil
        }
    }
}
