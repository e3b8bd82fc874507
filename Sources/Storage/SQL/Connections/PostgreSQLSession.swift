import CPostgres
import Glibc

/// One session with a server, over libpq; used by one thread at a time.
@safe final class PostgreSQLSession {
    private let handle: OpaquePointer
    /// How long the server may be silent.
    private let silenceMilliseconds: Int32
    /// Set when the way to the server is known to be gone.
    private(set) var isLost = false

    /// - Throws: ``StoreOpenFailure/unreachable(_:)`` with libpq's words. They name no password, but quote of a
    ///   malformed URL what is wrong: who reads one from outside refuses it before.
    init(_ settings: PostgreSQLSettings) throws(StoreOpenFailure) {
        let timeout = max(settings.connectTimeout.components.seconds, 1)
        // Those before the URL are defaults, which it may overrule; those after it are not.
        let options: [(String, String)] = [
            ("connect_timeout", "\(timeout)"), ("keepalives_idle", "15"), ("keepalives_interval", "5"),
            ("keepalives_count", "3"), ("tcp_user_timeout", "\(timeout * 2_000)"),
            ("fallback_application_name", "assay"), ("dbname", settings.url), ("client_encoding", "UTF8"),
            ("target_session_attrs", "read-write"),
        ]
        let made = unsafe Self.withCStrings(options.map(\.0)) { keywords in
            unsafe Self.withCStrings(options.map(\.1)) { values in unsafe PQconnectdbParams(keywords, values, 1) }
        }
        guard let handle = unsafe made else { throw .unreachable("out of memory") }
        guard unsafe PQstatus(handle) == CONNECTION_OK else {
            let message = unsafe String(cString: PQerrorMessage(handle))
            unsafe PQfinish(handle)
            throw .unreachable(Self.line(message))
        }
        unsafe self.handle = handle
        silenceMilliseconds = Int32(clamping: PostgreSQLSettings.milliseconds(settings.statementTimeout))
        // The server's remarks are nobody's business: what failed is told by its state.
        unsafe PQsetNoticeReceiver(handle, { _, _ in }, nil)
    }

    deinit { unsafe PQfinish(handle) }

    /// libpq says the rest, and each further address, on lines of their own.
    private static func line(_ message: String) -> String {
        message.utf8.split(separator: UInt8(ascii: "\n")).map { line in
            let parts = line.split(separator: UInt8(ascii: "\t"))
            return parts.map { String(decoding: $0, as: UTF8.self) }.joined(separator: " ")
        }.joined(separator: "; ")
    }

    /// Runs statements without parameters, in one round trip.
    ///
    /// - Returns: the last one's result, with values in text.
    @discardableResult
    func run(_ text: String) throws(PostgreSQLFault) -> PostgreSQLResult {
        try answer(sent: unsafe PQsendQuery(handle, text))
    }

    /// Has the server parse a statement, and tell what it expects of its parameters.
    func prepare(_ text: String, name: String) throws(PostgreSQLFault) -> [Oid] {
        _ = try answer(sent: unsafe PQsendPrepare(handle, name, text, 0, nil))
        return try answer(sent: unsafe PQsendDescribePrepared(handle, name)).parameterTypes
    }

    /// Runs a statement that was prepared under a name.
    func run(prepared name: String, _ parameters: PostgreSQLParameters) throws(PostgreSQLFault) -> PostgreSQLResult {
        let sent = unsafe parameters.withPointers { count, values, lengths, formats in
            unsafe PQsendQueryPrepared(handle, name, count, values, lengths, formats, 1)
        }
        return try answer(sent: sent)
    }

    /// Runs a statement that leaves nothing behind in the session.
    func run(_ text: String, _ parameters: PostgreSQLParameters) throws(PostgreSQLFault) -> PostgreSQLResult {
        let sent = unsafe parameters.withPointers { count, values, lengths, formats in
            unsafe PQsendQueryParams(handle, text, count, parameters.types, values, lengths, formats, 1)
        }
        return try answer(sent: sent)
    }

    /// Runs statements that were prepared, one after the other and in one round trip. After one that the server refuses it
    /// runs none of the rest.
    ///
    /// - Parameter statements: at least one.
    /// - Returns: the result of each.
    /// - Throws: the first refusal.
    func run(
        together statements: [(name: String, parameters: PostgreSQLParameters)]
    ) throws(PostgreSQLFault) -> [PostgreSQLResult] {
        guard !isLost, unsafe PQenterPipelineMode(handle) == 1 else { throw lost() }
        for (name, parameters) in statements {
            let sent = unsafe parameters.withPointers { count, values, lengths, formats in
                unsafe PQsendQueryPrepared(handle, name, count, values, lengths, formats, 1)
            }
            guard sent == 1 else { throw lost() }
        }
        guard unsafe PQpipelineSync(handle) == 1 else { throw lost() }
        var results: [PostgreSQLResult] = []
        var refusal: String?
        for _ in statements {
            // The server may keep its answers until the last one: its silence is that of all of them.
            let result = try nextResult(after: statements.count)
            guard let result, try nextResult() == nil else { throw lost() }
            refusal = refusal ?? result.refusal
            results.append(result)
        }
        guard let end = try nextResult(), end.endsPipeline, unsafe PQexitPipelineMode(handle) == 1 else { throw lost() }
        if let refusal { throw PostgreSQLFault(state: refusal, isLost: false) }
        return results
    }

    /// Cuts the connection, so that nothing more is heard over it.
    func cut() {
        isLost = true
        let socket = unsafe PQsocket(handle)
        if socket >= 0 { shutdown(socket, Int32(SHUT_RDWR)) }
    }

    /// Waits for the results of what was sent.
    ///
    /// - Returns: the last one.
    /// - Throws: the first refusal.
    private func answer(sent: Int32) throws(PostgreSQLFault) -> PostgreSQLResult {
        guard !isLost, sent == 1 else { throw lost() }
        var last: PostgreSQLResult?
        var refusal: String?
        while true {
            guard let result = try nextResult() else { break }
            refusal = refusal ?? result.refusal
            last = result
        }
        if unsafe PQstatus(handle) != CONNECTION_OK { throw lost() }
        if let refusal { throw PostgreSQLFault(state: refusal, isLost: false) }
        guard let last else { throw lost() }
        return last
    }

    /// Waits for a result, for as long as so many statements may take before the server says anything; `nil` after the last
    /// one of what was asked.
    private func nextResult(after count: Int = 1) throws(PostgreSQLFault) -> PostgreSQLResult? {
        try waitForInput(Int32(clamping: Int64(silenceMilliseconds) * Int64(count)))
        return unsafe PQgetResult(handle).map { unsafe PostgreSQLResult(owning: $0) }
    }

    /// Returns once libpq has a whole result; gives up on a server that says nothing.
    private func waitForInput(_ silence: Int32) throws(PostgreSQLFault) {
        while unsafe PQisBusy(handle) == 1 {
            var state = pollfd(fd: unsafe PQsocket(handle), events: Int16(POLLIN), revents: 0)
            let ready = unsafe poll(&state, 1, silence)
            if ready < 0, errno == EINTR { continue }
            guard ready != 0 else { throw lost(.silent) }
            guard ready > 0, unsafe PQconsumeInput(handle) == 1 else { throw lost() }
        }
    }

    private func lost(_ fault: PostgreSQLFault = .lost) -> PostgreSQLFault {
        cut()
        return fault
    }

    /// The texts as a C array that ends with a null; it lives as long as the call.
    private static func withCStrings<Value>(
        _ texts: [String],
        _ body: (UnsafePointer<UnsafePointer<CChar>?>) -> Value
    ) -> Value {
        let copies: [UnsafeMutablePointer<CChar>?] = unsafe texts.map { unsafe strdup($0) }
        defer { for place in texts.indices { unsafe free(copies[place]) } }
        var pointers: [UnsafePointer<CChar>?] = unsafe copies.map { unsafe UnsafePointer($0) }
        unsafe pointers.append(nil)
        return unsafe pointers.withUnsafeBufferPointer { pointers in
            guard let base = pointers.baseAddress else { preconditionFailure("the array has an end") }
            return unsafe body(base)
        }
    }
}
