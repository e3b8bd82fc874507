package import PurchaseModel

/// The questions about imports.
package protocol ImportReader {
    /// `nil` when nothing of this source was read yet.
    func importProgress(_ id: ProofDigest) throws(StoreFailure) -> ImportProgress?

    /// For how long Apple will go on being asked what imports of an app have planned: none when nothing is planned.
    ///
    /// - Parameters:
    ///   - app: whose imports.
    ///   - now: the caller's time. A store that several machines share goes by its database's.
    /// - Returns: how long.
    /// - Throws: ``StoreFailure``.
    func importQuestionsLast(of app: AppID, at now: Timestamp) throws(StoreFailure) -> Duration
}

/// What is kept of imports.
package protocol ImportVerbs: ImportReader {
    /// Writes how far a source was read: the first version is new, any other takes the place of the one before.
    ///
    /// - Throws: ``StoreFailure/conflict`` when somebody else was faster.
    func noteImport(_ progress: ImportProgress) throws(StoreFailure)

    /// Plans questions to Apple behind all that imports of an app have planned, of whatever source, and none before now.
    ///
    /// - Parameters:
    ///   - count: how many; with none the turn of the next one is told, and nothing is planned.
    ///   - app: whose imports.
    ///   - spacing: from one to the next.
    ///   - now: the caller's time. A store that several machines share goes by its database's.
    /// - Returns: in how long the first one's turn is.
    /// - Throws: ``StoreFailure``.
    func planImportQuestions(
        _ count: Int,
        of app: AppID,
        every spacing: Duration,
        at now: Timestamp
    ) throws(StoreFailure) -> Duration
}
