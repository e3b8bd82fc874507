// swift-tools-version: 6.2
// The targets stand in the order of the floors in ARCHITECTURE.md: nothing imports what is listed after it.
import PackageDescription

let house: [SwiftSetting] = [
    // https://github.com/swiftlang/swift-evolution/blob/main/proposals/0335-existential-any.md
    .enableUpcomingFeature("ExistentialAny"),
    // https://github.com/swiftlang/swift-evolution/blob/main/proposals/0409-access-level-on-imports.md
    .enableUpcomingFeature("InternalImportsByDefault"),
    // https://github.com/swiftlang/swift-evolution/blob/main/proposals/0444-member-import-visibility.md
    .enableUpcomingFeature("MemberImportVisibility"),
    // https://github.com/swiftlang/swift-evolution/blob/main/proposals/0461-async-function-isolation.md
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    // https://github.com/swiftlang/swift-evolution/blob/main/proposals/0470-isolated-conformances.md
    .enableUpcomingFeature("InferIsolatedConformances"),
    // https://github.com/swiftlang/swift-evolution/blob/main/proposals/0458-strict-memory-safety.md
    .strictMemorySafety(),
    // https://github.com/swiftlang/swift-evolution/blob/main/proposals/0443-warning-control-flags.md
    .treatAllWarnings(as: .error),
]

func room(_ name: String, _ dependencies: [Target.Dependency] = [], resources: [Resource] = []) -> Target {
    .target(name: name, dependencies: dependencies, resources: resources, swiftSettings: house)
}

func tests(_ name: String, _ dependencies: [Target.Dependency], resources: [Resource] = []) -> Target {
    .testTarget(name: name, dependencies: dependencies, resources: resources, swiftSettings: house)
}

let package = Package(
    name: "assay",
    // What apps that use PurchaseClient run on. All else runs on Linux.
    platforms: [.iOS(.v15), .macOS(.v12), .tvOS(.v15), .watchOS(.v8), .visionOS(.v1)],
    products: [
        .executable(name: "assay", targets: ["Server"]),
        .library(name: "PurchaseClient", targets: ["PurchaseClient"]),
    ],
    targets: [
        // Floor 0: system libraries, each a shim and a module map.
        .systemLibrary(
            name: "COpenSSL",
            path: "Sources/System/COpenSSL",
            pkgConfig: "openssl",
            providers: [.apt(["libssl-dev"])]
        ),
        .systemLibrary(
            name: "CSQLite",
            path: "Sources/System/CSQLite",
            pkgConfig: "sqlite3",
            providers: [.apt(["libsqlite3-dev"])]
        ),
        .systemLibrary(
            name: "CCurl",
            path: "Sources/System/CCurl",
            pkgConfig: "libcurl",
            providers: [.apt(["libcurl4-openssl-dev"])]
        ),
        .systemLibrary(
            name: "CPostgres",
            path: "Sources/System/CPostgres",
            pkgConfig: "libpq",
            providers: [.apt(["libpq-dev"])]
        ),
        .systemLibrary(
            name: "CArgon2",
            path: "Sources/System/CArgon2",
            pkgConfig: "libargon2",
            providers: [.apt(["libargon2-dev"])]
        ),
        .systemLibrary(name: "CGlibc", path: "Sources/System/CGlibc"),
        .target(name: "CBeast", path: "Sources/System/CBeast"),
        .target(name: "CSQLiteLog", dependencies: ["CSQLite"], path: "Sources/System/CSQLiteLog"),

        // Floor 1: what knows nobody.
        room("Encoding"),
        room("PurchaseModel"),
        room("AppleFormats", ["Encoding"]),
        room("Crypto", ["COpenSSL", "CArgon2"]),
        room("HTTP", ["Encoding", "CBeast", "CCurl"]),
        // In apps: no system library, and nothing of the server's, may be reached from it.
        room("PurchaseClient"),

        // Floor 2: proof, memory, and an App Store of our own.
        room(
            "Verification",
            ["PurchaseModel", "AppleFormats", "Crypto", "Encoding"],
            resources: [.embedInCode("Chain/Roots")]
        ),
        room(
            "Storage",
            ["PurchaseModel", "Crypto", "CSQLite", "CSQLiteLog", "CPostgres"],
            resources: [.embedInCode("SQL/Schema")]
        ),
        room(
            "Simulator",
            ["PurchaseModel", "AppleFormats", "Crypto", "Encoding", "HTTP"],
            resources: [.embedInCode("Control/openapi.json")]
        ),

        // Floor 3: what calls Apple, and what runs later.
        room("AppStore", ["PurchaseModel", "AppleFormats", "Crypto", "Encoding", "HTTP", "Verification"]),
        room("Jobs", ["PurchaseModel", "Storage"]),

        // Floors 4 to 6: the conductor, its face, and the executable that wires them.
        room(
            "Pipeline",
            ["PurchaseModel", "Crypto", "Encoding", "HTTP", "Verification", "Storage", "Jobs", "AppStore"]
        ),
        room(
            "API",
            ["PurchaseModel", "HTTP", "Crypto", "Encoding", "Storage", "Pipeline"],
            resources: [.embedInCode("Description/Parts")]
        ),
        room(
            "Dashboard",
            ["PurchaseModel", "HTTP", "Crypto", "Encoding", "Storage", "Pipeline"],
            resources: [.embedInCode("Assets")]
        ),
        .executableTarget(
            name: "Server",
            dependencies: [
                "PurchaseModel", "HTTP", "Crypto", "Encoding", "Verification", "Storage", "Jobs", "AppStore",
                "Pipeline", "API", "Dashboard", "Simulator", "CGlibc",
            ],
            swiftSettings: house
        ),

        // Beside the house: measures, and the tests.
        .executableTarget(
            name: "Benchmarks",
            dependencies: [
                "PurchaseModel", "AppleFormats", "Crypto", "Encoding", "HTTP", "Verification", "Storage", "Simulator",
                "AppStore", "Jobs", "Pipeline",
                "COpenSSL", "CSQLite", "CPostgres",
            ],
            path: "Benchmarks/Sources",
            swiftSettings: house
        ),
        .target(
            name: "TestSupport",
            dependencies: ["PurchaseModel", "Encoding", "Simulator"],
            path: "Tests/TestSupport",
            swiftSettings: house
        ),
        tests("EncodingTests", ["Encoding", "TestSupport"]),
        tests("PurchaseModelTests", ["PurchaseModel", "TestSupport"]),
        tests("AppleFormatsTests", ["AppleFormats", "Encoding", "TestSupport"]),
        tests("CryptoTests", ["Crypto", "Encoding", "TestSupport"]),
        tests("HTTPTests", ["HTTP", "TestSupport"]),
        tests("PurchaseClientTests", ["PurchaseClient", "PurchaseModel", "HTTP", "TestSupport"]),
        tests(
            "VerificationTests",
            ["Verification", "PurchaseModel", "AppleFormats", "Crypto", "Encoding", "HTTP", "Simulator", "TestSupport"]
        ),
        // A writer that the kill sweep of StorageTests ends at every system call.
        .executableTarget(
            name: "StoreProbe",
            dependencies: ["PurchaseModel", "Storage"],
            path: "Tests/StoreProbe",
            swiftSettings: house
        ),
        // What SQLite may do with its log, beside the same in memory.
        .executableTarget(name: "LogProbe", dependencies: ["CSQLiteLog", "CSQLite"], path: "Tests/System/LogProbe"),
        tests("StorageTests", ["Storage", "PurchaseModel", "TestSupport", "StoreProbe", "LogProbe"]),
        tests(
            "AppStoreTests",
            [
                "AppStore", "PurchaseModel", "AppleFormats", "Crypto", "Encoding", "HTTP", "Verification", "Simulator",
                "TestSupport",
            ]
        ),
        tests("JobsTests", ["Jobs", "Storage", "PurchaseModel", "TestSupport"]),
        tests(
            "SimulatorTests",
            ["Simulator", "PurchaseModel", "AppleFormats", "Crypto", "Encoding", "HTTP", "TestSupport"]
        ),
        tests(
            "PipelineTests",
            [
                "Pipeline", "PurchaseModel", "Crypto", "Encoding", "HTTP", "Verification", "Storage", "Jobs",
                "AppStore",
                "Simulator", "TestSupport",
            ]
        ),
        tests(
            "APITests",
            [
                "API", "HTTP", "PurchaseModel", "Crypto", "Encoding", "Verification", "Storage", "Jobs", "AppStore",
                "Pipeline", "Simulator", "TestSupport",
            ]
        ),
        tests(
            "DashboardTests",
            [
                "Dashboard", "HTTP", "PurchaseModel", "Crypto", "Storage", "Jobs", "Pipeline", "Verification",
                "Simulator",
                "TestSupport",
            ]
        ),
        tests(
            "ServerTests",
            [
                "Server", "AppStore", "PurchaseModel", "Crypto", "Encoding", "HTTP", "Pipeline", "Verification",
                "Storage", "Simulator", "TestSupport",
            ]
        ),
        // The whole house on one thread, by a seed: what the tests and `make simulate` run.
        .target(
            name: "Simulation",
            dependencies: [
                "API", "AppStore", "Crypto", "Encoding", "HTTP", "Jobs", "Pipeline", "PurchaseModel", "Simulator",
                "Storage", "TestSupport", "Verification",
            ],
            path: "Tests/Simulation",
            swiftSettings: house
        ),
        .executableTarget(
            name: "Simulate",
            dependencies: ["Simulation", "Simulator"],
            path: "Tests/Simulate",
            swiftSettings: house
        ),
        tests(
            "SimulationTests",
            [
                "API", "Crypto", "HTTP", "Pipeline", "PurchaseClient", "PurchaseModel", "Simulation", "Simulator",
                "Storage", "TestSupport", "Verification",
            ]
        ),
        tests("HouseTests", []),
    ],
    swiftLanguageModes: [.v6],
    cxxLanguageStandard: .cxx20
)
