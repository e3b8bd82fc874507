package import PurchaseModel

/// How far what Apple says to have sent was compared with what arrived, for one app on one side of the wall.
package struct NotificationWatch: Hashable, Sendable {
    /// Where an earlier look ended, and what was counted until there.
    package struct Mark: Hashable, Sendable {
        package let moment: Timestamp
        package let sent: Int64
        package let arrived: Int64
        package let recovered: Int64

        package init(_ moment: Timestamp, sent: Int64, arrived: Int64, recovered: Int64) {
            self.moment = moment
            self.sent = sent
            self.arrived = arrived
            self.recovered = recovered
        }
    }

    /// Between two marks: by so much more is looked at again.
    static let markStep = Duration.seconds(6 * 3_600)
    /// More than two weeks of them: a watch goes back by no more than one.
    static let marksMax = 64

    package var app: AppID
    package var realm: Realm
    /// What Apple signed before is compared.
    package private(set) var comparedUntil: Timestamp
    /// How many Apple says to have sent until then, since the watch began.
    package private(set) var sent: Int64
    /// How many of them had arrived by themselves.
    package private(set) var arrived: Int64
    /// How many of them were missing, and fetched.
    package private(set) var recovered: Int64
    /// From where it can begin again without counting twice; the oldest first.
    package private(set) var marks: [Mark]
    /// Counts the changes; 1 for the first.
    package private(set) var version: Int64

    package init(
        app: AppID,
        realm: Realm,
        comparedUntil: Timestamp,
        sent: Int64 = 0,
        arrived: Int64 = 0,
        recovered: Int64 = 0,
        marks: [Mark] = [],
        version: Int64 = 1
    ) {
        self.app = app
        self.realm = realm
        self.comparedUntil = comparedUntil
        self.sent = sent
        self.arrived = arrived
        self.recovered = recovered
        self.marks = marks
        self.version = version
    }

    /// Goes on to the end of a look, with what it counted.
    package mutating func goOn(to end: Timestamp, sent: Int64, arrived: Int64, recovered: Int64) {
        if marks.last.map({ $0.moment.advanced(by: Self.markStep) <= comparedUntil }) ?? true {
            let mark = Mark(comparedUntil, sent: self.sent, arrived: self.arrived, recovered: self.recovered)
            marks = Array((marks + [mark]).suffix(Self.marksMax))
        }
        comparedUntil = end
        self.sent += sent
        self.arrived += arrived
        self.recovered += recovered
        version += 1
    }

    /// Begins again at a moment, or at the last mark before it: what was counted since is taken off, and counted anew when it is
    /// looked at again. What no mark is old enough for is counted a second time.
    package mutating func goBack(to moment: Timestamp) {
        let last = marks.last { $0.moment <= moment }
        if let mark = last ?? marks.first {
            (sent, arrived, recovered) = (mark.sent, mark.arrived, mark.recovered)
        }
        marks.removeAll { $0.moment > moment }
        comparedUntil = last?.moment ?? moment
        version += 1
    }
}

/// The marks of a watch as a text in a row: a line for each, numbers with a space between them.
enum WatchMarksText {
    /// `nil` where there are none.
    static func text(of marks: [NotificationWatch.Mark]) -> String? {
        if marks.isEmpty { return nil }
        let lines = marks.map { "\($0.moment.milliseconds) \($0.sent) \($0.arrived) \($0.recovered)" }
        return lines.joined(separator: "\n")
    }

    /// `nil` for a text that we did not write.
    static func marks(in text: String) -> [NotificationWatch.Mark]? {
        var marks: [NotificationWatch.Mark] = []
        for line in text.utf8.split(separator: UInt8(ascii: "\n")) {
            let numbers = line.split(separator: UInt8(ascii: " ")).map { Int64(String(decoding: $0, as: UTF8.self)) }
            guard numbers.count == 4, let moment = numbers[0], let sent = numbers[1], let arrived = numbers[2],
                let recovered = numbers[3]
            else { return nil }
            let at = Timestamp(milliseconds: moment)
            marks.append(NotificationWatch.Mark(at, sent: sent, arrived: arrived, recovered: recovered))
        }
        return marks
    }
}
