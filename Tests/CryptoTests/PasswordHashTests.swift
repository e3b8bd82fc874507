import Crypto
import Testing

@Suite struct PasswordHashTests {
    @Test func aPasswordFitsItsHashAndNoOtherDoes() throws {
        let password = Array("correct horse battery staple".utf8)
        let hash = try PasswordHash(of: password)
        #expect(hash.fits(password))
        #expect(PasswordHash(kept: hash.text).fits(password))
        let others = [
            "", "correct horse battery stapl", "correct horse battery staple ", "Correct horse battery staple",
        ]
        for other in others {
            #expect(!hash.fits(Array(other.utf8)))
        }
        #expect(!hash.isOutdated)
    }

    @Test func theSamePasswordTwiceHasTwoHashes() throws {
        let password = Array("the same".utf8)
        #expect(try PasswordHash(of: password) != PasswordHash(of: password))
    }

    /// Made by the `argon2` command of Debian 12:
    /// `printf password | argon2 somesaltsomesalt -id -t 2 -k 19456 -p 1 -l 32 -e`.
    @Test func theReferenceProgramMakesTheSameText() throws {
        let hash = try PasswordHash(of: Array("password".utf8), salt: Array("somesaltsomesalt".utf8))
        let made = "$argon2id$v=19$m=19456,t=2,p=1$c29tZXNhbHRzb21lc2FsdA$K13EBUiG7JV+9ZxztmHFTdb7J0WQsnj2V8bZaqyPptE"
        #expect(hash.text == made)
    }

    @Test(arguments: [
        "", "$", "$argon2id$v=19$m=19456,t=2,p=1$", "$argon2i$v=19$m=19456,t=2,p=1$c29tZXNhbHQ$AAAA",
        // Would take four gigabytes.
        "$argon2id$v=19$m=4194304,t=2,p=1$c29tZXNhbHRzb21lc2FsdA$AAAAAAAAAAAAAAAAAAAAAA",
        "$argon2id$v=19$m=19456,t=2,p=1$c29tZXNhbHRzb21lc2FsdA$AAAA\0",
    ])
    func aForeignTextFitsNothing(text: String) {
        #expect(!PasswordHash(kept: text).fits([]))
        #expect(!PasswordHash(kept: text).fits(Array("password".utf8)))
    }

    @Test func aPasswordHasABound() throws {
        let long = [UInt8](repeating: 0x61, count: PasswordHash.passwordBytesMax)
        let hash = try PasswordHash(of: long)
        #expect(hash.fits(long))
        #expect(throws: CryptoError.malformed("a password has at most 1,024 bytes")) {
            try PasswordHash(of: long + [0x61])
        }
        #expect(!hash.fits(long + [0x61]))
    }
}
