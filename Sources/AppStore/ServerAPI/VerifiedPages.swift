import HTTP
package import PurchaseModel
package import Verification

/// One page of a listing, its transactions proved.
package struct HistoryPage: Sendable {
    /// The store that has them.
    package let store: StoreEnvironment
    package let transactions: [Verified<Proof>]
    /// Where to go on: after this page, or, when there is no more, later with what is new.
    package let revision: String?
    package let hasMore: Bool
}

/// A part of a listing that may go on.
package protocol ContinuedPage: Sendable {
    var hasMore: Bool { get }
    /// What the next page is asked for with.
    var continuation: String? { get }
}

extension HistoryPage: ContinuedPage {
    package var continuation: String? { revision }
}

/// A listing of Apple's, page after page. When it fails in the middle, go on later from the last page's place. One that
/// goes on after the most pages that are asked for fails, too: what is cut off is not the whole.
package struct VerifiedPages<Page: ContinuedPage>: AsyncSequence, Sendable {
    package typealias Failure = AppStoreFailure
    package typealias Element = Page

    let first: String?
    let pagesMax: Int
    let load: @Sendable (_ continuation: String?) async throws(AppStoreFailure) -> Page

    package struct AsyncIterator: AsyncIteratorProtocol {
        package typealias Failure = AppStoreFailure

        let pages: VerifiedPages
        var next: String?
        var isDone = false
        var count = 0

        package mutating func next() async throws(AppStoreFailure) -> Page? {
            guard !isDone else { return nil }
            guard count < pages.pagesMax else { throw .unreadable(.endless, .ok) }
            let asked = next
            let page = try await pages.load(asked)
            count += 1
            guard page.hasMore else {
                isDone = true
                return page
            }
            // A listing that does not move on would never end.
            guard let continuation = page.continuation, continuation != asked else {
                isDone = true
                throw .unreadable(.shape, .ok)
            }
            next = continuation
            return page
        }

        /// The same on whatever executor.
        package mutating func next(isolation actor: isolated (any Actor)?) async throws(AppStoreFailure) -> Page? {
            try await next()
        }
    }

    package func makeAsyncIterator() -> AsyncIterator { AsyncIterator(pages: self, next: first) }
}
