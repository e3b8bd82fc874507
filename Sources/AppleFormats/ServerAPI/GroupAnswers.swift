package import Encoding

/// Get Current Groups: the organizations and groups through which a customer has purchases. Sandbox only so far.
package struct CurrentGroupsAnswer: ServerAnswerModel {
    package struct Group: Hashable, Sendable {
        package let id: String
        /// `ORGANIZATION` or `CONSUMER`.
        package let type: String?
        /// Organizations only.
        package let roles: [Role]
        package let others: [RawMember]
    }

    package struct Role: Hashable, Sendable {
        package let productID: String?
        /// `ADMIN` or `NONE`.
        package let role: String?
    }

    package let groups: [Group]
    package let others: [RawMember]

    package init(_ document: JSONDocument) throws(FormatFault) {
        var reader = AnswerReader(try document.members())
        groups = try reader.list("groups") { reader throws(FormatFault) in
            Group(
                id: try reader.required("groupId"),
                type: try reader.text("groupType"),
                roles: try reader.list("roles") { reader throws(FormatFault) in
                    Role(productID: try reader.text("productId"), role: try reader.text("role"))
                },
                others: try reader.others()
            )
        }
        others = try reader.others()
    }
}

/// One page of Get Group.
package struct GroupAnswer: ServerAnswerModel {
    /// The app transaction ids of its members.
    package let members: [String]
    package let hasMore: Bool
    package let paginationToken: String?
    package let others: [RawMember]

    package init(_ document: JSONDocument) throws(FormatFault) {
        var reader = AnswerReader(try document.members())
        members = try reader.list("members") { reader throws(FormatFault) in
            try reader.required("appTransactionId")
        }
        hasMore = try reader.flag("hasMore") ?? false
        paginationToken = try reader.text("paginationToken")
        others = try reader.others()
    }
}
