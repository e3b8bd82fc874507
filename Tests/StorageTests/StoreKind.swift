import Foundation
import Storage
import TestSupport
import Testing

/// The stores that run the same suite.
enum StoreKind: CaseIterable {
    case memory
    case sqlite
    case postgresql

    /// PostgreSQL only beside a server: see ``TestDatabase``, whose absence is told by ``PostgreSQLStoreTests``.
    static var allCases: [StoreKind] {
        TestDatabase.url == nil ? [.memory, .sqlite] : [.memory, .sqlite, .postgresql]
    }

    /// Opens an empty store, hands it over, closes it and removes what it wrote.
    func withStore<Value>(_ body: (any Store) async throws -> Value) async throws -> Value {
        switch self {
        case .memory:
            return try await body(MemoryStore())
        case .sqlite:
            return try await TemporaryFolder.with { folder in
                let store = try SQLiteStore.open(folder: folder + "/data")
                let result: Result<Value, any Error>
                do { result = .success(try await body(store)) } catch { result = .failure(error) }
                await store.close()
                return try result.get()
            }
        case .postgresql:
            return try await PostgreSQLServer.withStore { store in try await body(store) }
        }
    }
}

/// A folder that is gone after the test.
enum TemporaryFolder {
    static func with<Value>(_ body: (String) async throws -> Value) async throws -> Value {
        let folder = FileManager.default.temporaryDirectory.appending(path: "assay-store-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
        defer { try? FileManager.default.removeItem(at: folder) }
        return try await body(folder.path)
    }
}
