/// The owner of one C object that nobody changes once it is made: a key, a certificate, a hash method.
///
/// It is the only `@unchecked Sendable` of the house. That holds because the pointer is set once and never handed out
/// beyond a closure, because every caller only reads the object (OpenSSL promises that a key, a certificate or a method
/// may be read by many threads at once, and locks what it computes late), and because the object is freed only when no
/// thread holds its owner any more.
@safe final class SharedHandle: @unchecked Sendable {
    private let pointer: OpaquePointer
    private let free: @Sendable (OpaquePointer) -> Void

    /// Takes over an object that the caller owns; `free` is called once, at the end.
    init(owning pointer: OpaquePointer, free: @escaping @Sendable (OpaquePointer) -> Void) {
        unsafe self.pointer = pointer
        unsafe self.free = unsafe free
    }

    deinit {
        unsafe free(pointer)
    }

    /// Lends the object for reading; it lives at least as long as `body` runs.
    func read<Result, Failure: Error>(_ body: (OpaquePointer) throws(Failure) -> Result) throws(Failure) -> Result {
        defer { withExtendedLifetime(self) {} }
        return try unsafe body(pointer)
    }
}
