import Testing

@testable import Server

/// By whom the doctor judges whose the ledger's files must be: on a machine that is made up.
@Suite struct ServerUserTests {
    private static let lock = FileStatus.Place(major: 0xFE, minor: 1, inode: 16_220_247)
    private static let unit = """
        [Service]
        ExecStart=/usr/bin/assay serve --config /etc/assay/assay.json
        User=assay
        Group=assay
        """
    /// The unit whose environment names the configuration.
    private static func named(_ environment: String) -> String {
        unit.replacing(" --config /etc/assay/assay.json", with: "\nEnvironment=\(environment)")
    }
    private static let users = "root:x:0:0:root:/root:/bin/sh\nassay2:x:7:7::/:/bin/sh\nassay:x:105:112::/:/bin/sh\n"
    private static let locks = """
        1: POSIX  ADVISORY  WRITE 11 fe:01:16220247 0 EOF
        2: FLOCK  ADVISORY  WRITE 12 fe:02:16220247 0 EOF
        3: FLOCK  ADVISORY  WRITE 13 fe:01:16220248 0 EOF
        4: FLOCK  ADVISORY  READ  14 fe:01:16220247 0 EOF
        a line of another form
        """
    private static let held =
        locks + "\n5: FLOCK  ADVISORY  WRITE 3352 fe:01:16220247 0 EOF\n"
        + "5: -> FLOCK  ADVISORY  WRITE 15 fe:01:16220247 0 EOF\n"

    private static func machine(
        _ caller: UInt32,
        locks: String = Self.locks,
        serverOf user: UInt32 = 0,
        does word: String = "serve",
        unit: [String] = []
    ) -> ServerUser.Machine {
        ServerUser.Machine(
            locks: locks,
            process: { number in
                guard number == 3_352 else { return nil }
                let status = "Name:\tassay\nUmask:\t0077\nUid:\t1\t\(user)\t1\t1\nGid:\t1\t1\t1\t1\n"
                return (status, ["/usr/bin/assay", word, "--config", "assay.json"])
            },
            unit: unit,
            users: users,
            caller: caller
        )
    }

    private static func find(
        _ machine: ServerUser.Machine,
        owner: UInt32 = 500,
        _ configuration: String? = "/etc/assay/assay.json"
    ) -> UInt32 {
        ServerUser.find(lock: lock, owner: owner, configuration: configuration, on: machine).id
    }

    /// Whoever asks, root among them; and whatever service is installed.
    @Test(arguments: [0, 105, 1_000] as [UInt32], [0, 105] as [UInt32])
    func aServerThatRunsSaysIt(caller: UInt32, user: UInt32) {
        let machine = Self.machine(caller, locks: Self.held, serverOf: user, unit: [Self.unit])
        let found = ServerUser.find(lock: Self.lock, owner: 500, configuration: nil, on: machine)
        #expect(found == ServerUser(id: user, known: "by the server that runs, process 3352"))
    }

    /// An import holds the lock as well, and is no server; a process that is not to be seen says nothing.
    @Test func anotherProcessSaysNothing() {
        #expect(Self.find(Self.machine(1_000, locks: Self.held, serverOf: 7, does: "import")) == 1_000)
        #expect(Self.find(Self.machine(1_000)) == 1_000)
        let hidden = "1: FLOCK  ADVISORY  WRITE 0 fe:01:16220247 0 EOF\n"
        #expect(Self.find(Self.machine(1_000, locks: hidden, serverOf: 7)) == 1_000)
        let other = "1: FLOCK  ADVISORY  WRITE 99 fe:01:16220247 0 EOF\n"
        #expect(Self.find(Self.machine(1_000, locks: other, serverOf: 7)) == 1_000)
        let none = ServerUser.find(lock: nil, owner: 500, configuration: nil, on: Self.machine(9, locks: Self.held))
        #expect(none.id == 9)
    }

    /// Each row: the unit with what stands beside it, and the user; 1,000 is who asks.
    @Test(
        arguments: [
            ([unit], 105), ([unit, "[Service]\nUser=7\n"], 7), ([unit, "[Service]\nUser=\n"], 0),
            ([unit.replacing("User=assay\n", with: "")], 0),
            ([unit.replacing("User=assay\n", with: "User=gone\n")], 1_000),
            ([unit.replacing("/etc/assay/assay.json", with: "/srv/other.json")], 1_000),
            (["[Service]\nUser=assay\n"], 1_000),
            ([unit.replacing("--config ", with: "--config=")], 105),
            ([named("ASSAY_CONFIG=/etc/assay/assay.json")], 105),
            ([named("A=1 \"ASSAY_CONFIG=/etc/assay/assay.json\"")], 105),
            ([named("ASSAY_CONFIG=/srv/other.json")], 1_000),
            ([named("ASSAY_CONFIG=/etc/assay/assay.json"), "[Service]\nEnvironment=\n"], 1_000),
            // The flag outdoes it.
            ([unit + "\nEnvironment=ASSAY_CONFIG=/srv/other.json\n"], 105),
            ([], 1_000),
        ] as [([String], UInt32)]
    )
    func theServiceOfThisConfigurationSaysIt(unit: [String], user: UInt32) {
        #expect(Self.find(Self.machine(1_000, unit: unit)) == user)
        #expect(Self.find(Self.machine(1_000, unit: unit), "/srv/ann/assay.json") == 1_000)
        #expect(Self.find(Self.machine(1_000, unit: unit), nil) == 1_000)
    }

    @Test func rootAsksForTheFoldersOwner() {
        let found = ServerUser.find(lock: nil, owner: 500, configuration: nil, on: Self.machine(0))
        #expect(found == ServerUser(id: 500, known: "whose the folder is"))
        #expect(Self.find(Self.machine(0), owner: 0) == 0)
    }

    /// Each row: the server's user, the folder's owner and those of the lock and the file; what is told, and how it is mended.
    @Test(
        arguments: [
            (105, 105, [105, 105], nil, nil), (105, 105, [105, 0], "assay.sqlite", "chown --reference=/l /l/assay.*"),
            (105, 105, [1_000, 1_000], "assay.lock, assay.sqlite", "chown --reference=/l /l/assay.*"),
            // The folder may be open to a group.
            (105, 0, [105, 105], nil, nil),
            (105, 0, [105, 0], "assay.sqlite", "chown 105 /l /l/assay.*, if that is the user that is to serve it"),
            // Root opens them all.
            (0, 105, [105, 0], nil, nil), (0, 0, [105, 1_000], nil, nil),
        ] as [(UInt32, UInt32, [UInt32], String?, String?)]
    )
    func whatTheServerCannotOpenIsTold(
        user: UInt32,
        host: UInt32,
        owners: [UInt32],
        names: String?,
        fix: String?
    ) {
        let files = Array(zip(["assay.lock", "assay.sqlite"], owners)).map { (name: $0, owner: $1) }
        let user = ServerUser(id: user, known: "by the unit assay.service")
        let found = CheckLedgerState.strangers(files, in: "/l", of: host, to: user)
        #expect(found.map(\.fix) == (fix.map { [$0] } ?? []))
        let said = names.map {
            ["/l: \($0): of another user than the server's, user \(user.id), by the unit assay.service"]
        }
        #expect(found.map(\.found) == said ?? [])
    }

    /// The numbers of the device are those that `/proc/locks` has.
    @Test func aFileHasItsPlace() throws {
        let (one, same) = (try #require(FileStatus("/proc")), try #require(FileStatus("/proc/")))
        let other = try #require(FileStatus("/dev/null"))
        #expect(one.place == same.place && one.place != other.place)
    }
}
