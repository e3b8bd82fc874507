import CGlibc

/// How the C library's heap, from which Swift, SQLite and OpenSSL take their memory, gives memory back.
enum HeapSettings {
    /// What is larger is given back to the kernel as soon as it is freed, and can be used again whichever thread asks next.
    ///
    /// It is where glibc begins. But unless somebody says so, it moves the limit up to the largest block that was ever freed:
    /// from then on what a long receipt is read, decoded and answered in stays with the thread that had it, each with its
    /// own, and the server is as large as all of them together until it ends. So is the limit up to which a heap keeps what
    /// is free at its end. A small request has no block of this size: six thousand of them made 57 more calls of the kernel.
    ///
    /// Source: mallopt(3), "M_MMAP_THRESHOLD" (dynamic adjustment).
    private static let largeBlock: Int32 = 128 * 1_024

    /// To be called before there are other threads. Where the library refuses, the program is only larger.
    static func apply() {
        _ = mallopt(M_MMAP_THRESHOLD, largeBlock)
    }
}
