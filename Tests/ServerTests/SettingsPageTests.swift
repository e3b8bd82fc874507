import Foundation
import Testing

@testable import Server

/// docs/settings.md names every setting there is, as it is.
@Suite struct SettingsPageTests {
    private static func page() throws -> String {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        return try String(contentsOf: root.appending(path: "docs/settings.md"), encoding: .utf8)
    }

    @Test func everySettingHasItsRow() throws {
        let lines = try Self.page().split(separator: "\n").map(String.init)
        let defaults = ConfigurationText(Configuration()).lines
        for setting in Setting.allCases {
            let value = try #require(defaults.first { $0.path == setting.path }).value
            var range = ""
            if case .whole(let numbers, _) = setting.form {
                range = " \(numbers.lowerBound) to \(numbers.upperBound)."
            }
            let row =
                "| `\(setting.path)` | `\(setting.environmentName)` | `--\(setting.flag)` | `\(value)` | \(setting.summary)\(range) |"
            #expect(lines.contains(row), "docs/settings.md lacks the row\n\(row)")
        }
    }

    @Test func everyMemberHasItsRow() throws {
        let lines = try Self.page().split(separator: "\n")
        let lists = [
            ("apps[].", AppList.known), ("apps[].app_store.", AppStoreReader.known),
            ("apps[].app_store.hosts.", AppStoreReader.hosts), ("apps[].consumption.", ConsumptionReader.known),
            ("apps[].products[].", Catalogue.known), ("keys[].", KeyList.known),
        ]
        for (place, names) in lists {
            for name in names {
                let isThere = lines.contains { $0.hasPrefix("| `\(place)\(name)`") }
                #expect(isThere, "docs/settings.md lacks a row of `\(place)\(name)`")
            }
        }
    }
}
