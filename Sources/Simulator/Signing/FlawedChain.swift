package import Crypto

extension SimulatorAuthority {
    /// A chain that is wrong in one way.
    package func chain(_ family: SigningFamily, flaw: ChainFlaw) throws(CryptoError) -> SigningChain {
        switch flaw {
        case .reordered, .reversed, .noCertificates, .onlyLeaf, .withoutRoot, .fourCertificates, .leafTwice:
            try rearranged(family, flaw)
        case .foreignRoot, .foreignRootSent, .foreignChainUnderRightRoot, .foreignLeafOnRightChain,
            .contentSignedByOtherKey:
            try mixed(family, flaw)
        case .leafUsedAsIssuer, .pathTooLong:
            try lengthened(family, flaw)
        case .intermediateWithoutMarker, .intermediateExpired, .intermediateNotYetValid, .intermediateNotCA,
            .intermediateMayNotIssue, .intermediateWithUnknownCriticalExtension, .intermediateNamesOtherIssuer,
            .intermediateSignedByOtherKey:
            try withFlawedIntermediate(family, flaw)
        default:
            try withFlawedLeaf(family, flaw)
        }
    }

    private func rearranged(_ family: SigningFamily, _ flaw: ChainFlaw) throws(CryptoError) -> SigningChain {
        var chain = try chain(family)
        let (leaf, intermediate, root) = (chain.certificates[0], chain.certificates[1], chain.certificates[2])
        chain.certificates =
            switch flaw {
            case .reordered: [intermediate, leaf, root]
            case .reversed: [root, intermediate, leaf]
            case .onlyLeaf: [leaf]
            case .withoutRoot: [leaf, intermediate]
            case .fourCertificates: [leaf, intermediate, root, root]
            case .leafTwice: [leaf, leaf, root]
            default: []
            }
        return chain
    }

    private func mixed(_ family: SigningFamily, _ flaw: ChainFlaw) throws(CryptoError) -> SigningChain {
        var right = try chain(family)
        var other = try foreign().chain(family)
        switch flaw {
        case .foreignRootSent:
            right.certificates[2] = other.certificates[2]
            return right
        case .contentSignedByOtherKey:
            right.key = other.key
            return right
        case .foreignChainUnderRightRoot:
            other.certificates[2] = right.certificates[2]
        case .foreignLeafOnRightChain:
            other.certificates[1...] = right.certificates[1...]
        default: break
        }
        return other
    }

    private func withFlawedLeaf(_ family: SigningFamily, _ flaw: ChainFlaw) throws(CryptoError) -> SigningChain {
        var recipe = try recipe(family.leaf)
        switch flaw {
        case .leafWithoutMarker: recipe.shape.marker = nil
        case .leafExpired: recipe.notAfter = recipe.notBefore + 1_000
        case .leafNotYetValid: recipe.notBefore = recipe.notAfter - 1_000
        case .leafMayNotSign: recipe.shape.keyUsage = .keyEncipherment
        case .leafWithUnknownCriticalExtension: recipe.shape.hasUnknownCriticalExtension = true
        case .leafNamesOtherIssuer: recipe.issuer = DistinguishedName(commonName: "Simulated Stranger")
        case .leafSignedByOtherKey: recipe.issuerKey = try foreign().identity(family.intermediate).key
        case .leafSignedOverSHA1: recipe.shape.digest = .sha1
        case .leafOnOtherCurve: recipe.key = try PrivateKey(generate: .p384)
        case .leafOfOtherKind: recipe.key = try PrivateKey(generate: family == .jws ? .rsa2048 : .p256)
        default: break
        }
        var chain = try chain(family)
        let leaf = try recipe.issue()
        chain.key = leaf.key
        chain.signer = leaf.certificate
        chain.certificates[0] = leaf.certificate.der
        return chain
    }

    /// The leaf stays as it is: its issuer's name and key do not change.
    private func withFlawedIntermediate(
        _ family: SigningFamily,
        _ flaw: ChainFlaw
    ) throws(CryptoError) -> SigningChain {
        var recipe = try recipe(family.intermediate)
        switch flaw {
        case .intermediateWithoutMarker: recipe.shape.marker = nil
        case .intermediateExpired: recipe.notAfter = recipe.notBefore + 1_000
        case .intermediateNotYetValid: recipe.notBefore = recipe.notAfter - 1_000
        case .intermediateNotCA:
            recipe.shape.isCA = false
            recipe.shape.pathLength = nil
        case .intermediateMayNotIssue: recipe.shape.keyUsage = .digitalSignature
        case .intermediateWithUnknownCriticalExtension: recipe.shape.hasUnknownCriticalExtension = true
        case .intermediateNamesOtherIssuer: recipe.issuer = DistinguishedName(commonName: "Simulated Stranger")
        case .intermediateSignedByOtherKey: recipe.issuerKey = try foreign().identity(family.root).key
        default: break
        }
        var chain = try chain(family)
        chain.certificates[1] = try recipe.issue().certificate.der
        return chain
    }

    private func lengthened(_ family: SigningFamily, _ flaw: ChainFlaw) throws(CryptoError) -> SigningChain {
        let right = try chain(family)
        let leaf = try recipe(family.leaf)
        var lower = leaf
        lower.key = try PrivateKey(generate: leaf.shape.algorithm)
        guard flaw == .pathTooLong else {
            lower.issuer = leaf.shape.subject
            lower.issuerKey = leaf.key
            lower.authority = leaf.key.publicKey
            let signer = try lower.issue()
            // StoreKit 2 has room for three; a receipt holds as many as it likes.
            let others = family == .jws ? right.certificates.dropLast() : right.certificates[...]
            return SigningChain(
                key: signer.key,
                signer: signer.certificate,
                certificates: [signer.certificate.der] + others
            )
        }
        var authority = try recipe(family.intermediate)
        authority.shape.subject = DistinguishedName(commonName: "Simulated Subordinate Authority")
        authority.key = try PrivateKey(generate: authority.shape.algorithm)
        authority.issuer = CertificateShape(family.intermediate).subject
        authority.issuerKey = leaf.issuerKey
        authority.authority = leaf.issuerKey.publicKey
        lower.issuer = authority.shape.subject
        lower.issuerKey = authority.key
        lower.authority = authority.key.publicKey
        let signer = try lower.issue()
        return SigningChain(
            key: signer.key,
            signer: signer.certificate,
            certificates: [signer.certificate.der, try authority.issue().certificate.der] + right.certificates[1...]
        )
    }
}
