import AppleFormats
import Encoding

/// What the App Store Server API answers, each answer's bytes as any other's: an error may come where a page was asked for.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzServer(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    guard let document = try? JSONDocument.ofApple(fuzzInput(start, count)) else { return 0 }
    read(SignedTransactionAnswer.self, document) { $0.others }
    read(SignedAppTransactionAnswer.self, document) { $0.others }
    read(StatusesAnswer.self, document) { answer in
        answer.others + answer.groups.flatMap { $0.others + $0.lastTransactions.flatMap(\.others) }
    }
    read(HistoryAnswer.self, document) { $0.others }
    read(OrderAnswer.self, document) { $0.others }
    read(ExtensionAnswer.self, document) { $0.others }
    read(MassExtensionAnswer.self, document) { $0.others }
    read(CurrentGroupsAnswer.self, document) { $0.others + $0.groups.flatMap(\.others) }
    read(GroupAnswer.self, document) { $0.others }
    read(SentNotification.self, document) { $0.others }
    read(NotificationHistoryAnswer.self, document) { $0.others + $0.notifications.flatMap(\.others) }
    read(TestNotificationAnswer.self, document) { _ in [] }
    read(ServerErrorAnswer.self, document) { _ in [] }
    return 0
}

/// What nobody asked for is kept as it came, and can be read again.
private func read<Answer: ServerAnswerModel>(
    _: Answer.Type,
    _ document: JSONDocument,
    _ others: (Answer) -> [RawMember]
) {
    guard let answer = try? Answer(document) else { return }
    for member in others(answer) {
        precondition((try? JSONDocument.ofApple(member.json)) != nil, "a member that does not pass by itself")
    }
}
