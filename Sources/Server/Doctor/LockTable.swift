import Encoding

/// Which process has locked which file, by the lines of `/proc/locks`.
struct LockTable: Sendable {
    private var holders: [FileStatus.Place: Int] = [:]

    /// A line is `1: FLOCK  ADVISORY  WRITE 3352 fe:00:16220247 0 EOF`, the device in hexadecimal digits; with `->` before the
    /// kind it is a process that waits. One that is not to be seen from here has the number 0.
    init(_ text: String) {
        for line in text.utf8.split(separator: 0x0A) {
            let words = line.split(separator: 0x20).map { String(decoding: $0, as: UTF8.self) }
            guard words.count >= 6, words[1] == "FLOCK", words[3] == "WRITE", let process = Int(words[4]), process > 0
            else { continue }
            let numbers = words[5].utf8.split(separator: UInt8(ascii: ":")).map { String(decoding: $0, as: UTF8.self) }
            guard numbers.count == 3, let major = UInt32(numbers[0], radix: 16),
                let minor = UInt32(numbers[1], radix: 16), let inode = UInt64(numbers[2])
            else { continue }
            holders[FileStatus.Place(major: major, minor: minor, inode: inode)] = process
        }
    }

    /// The number of the process that alone may write to a file.
    func holder(of place: FileStatus.Place) -> Int? { holders[place] }
}
