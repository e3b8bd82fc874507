/// The question about imports.
package protocol ImportReader {
    /// `nil` when nothing of this source was read yet.
    func importProgress(_ id: ProofDigest) throws(StoreFailure) -> ImportProgress?
}

/// What is kept of imports.
package protocol ImportVerbs: ImportReader {
    /// Writes how far a source was read: the first version is new, any other takes the place of the one before.
    ///
    /// - Throws: ``StoreFailure/conflict`` when somebody else was faster.
    func noteImport(_ progress: ImportProgress) throws(StoreFailure)
}
