package import AppleFormats
package import PurchaseModel

/// One page of a group's members, by their app transactions.
package struct GroupPage: ContinuedPage {
    package let members: [String]
    package let hasMore: Bool
    package let continuation: String?
}

// Organizations and groups, since API 1.22; so far Apple answers in the sandbox only. Nothing in these answers is signed.
extension AppStoreServerClient {
    /// Get Current Groups: those that a customer belongs to.
    package func currentGroups(
        ofAny id: TransactionID,
        in store: StoreEnvironment
    ) async throws(AppStoreFailure) -> [CurrentGroupsAnswer.Group] {
        let request = Request(endpoint: .currentGroups, segments: [id.description])
        return try await answer(request, in: store, as: CurrentGroupsAnswer.self).groups
    }

    /// Get Group: its members, page after page.
    package func members(ofGroup id: String, in store: StoreEnvironment) -> VerifiedPages<GroupPage> {
        VerifiedPages(first: nil, pagesMax: Self.pagesMax) { continuation throws(AppStoreFailure) in
            let query = continuation.map { [(name: "paginationToken", value: $0)] } ?? []
            let request = Request(endpoint: .group, segments: [id], query: query)
            let answer = try await answer(request, in: store, as: GroupAnswer.self)
            return GroupPage(members: answer.members, hasMore: answer.hasMore, continuation: answer.paginationToken)
        }
    }
}
