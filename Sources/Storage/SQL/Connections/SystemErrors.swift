import Glibc

/// The few system error numbers that decide something.
enum SystemErrors {
    static func isLackOfSpace(_ number: Int32) -> Bool { number == ENOSPC || number == EDQUOT }
}
