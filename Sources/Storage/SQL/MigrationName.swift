/// What people call a migration: the name of its file, such as `sqlite_0003`.
enum MigrationName {
    static func all(_ database: String, _ count: Int) -> [String] {
        (1...count).map { number in
            let digits = String(number)
            return "\(database)_" + String(repeating: "0", count: max(4 - digits.utf8.count, 0)) + digits
        }
    }
}
