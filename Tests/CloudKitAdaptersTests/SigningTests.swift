#if CloudKit && os(Linux)
  import CanonicalSyncTestProcesses
  @testable import CloudKitAdapters
  import Foundation
  import HTTPAdapters
  import SyncModels
  import Testing

  @Suite("Signatures of requests") struct SigningTests {
    /// Runs `openssl`, which made and checks the keys here.
    private static func openssl(_ arguments: String..., input: [UInt8] = []) throws -> (
      status: Int32, output: String
    ) {
      let (status, output) = try ChildProcess.run(["openssl"] + arguments, input: input)
      return (status, String(decoding: output, as: UTF8.self))
    }

    private static func sec1() throws -> String {
      try openssl("ecparam", "-name", "prime256v1", "-genkey", "-noout").output
    }

    /// A key in each of the forms in which tools write it.
    private static func forms() throws -> [String] {
      let sec1 = try sec1()
      let behindParameters = try openssl("ecparam", "-name", "prime256v1", "-genkey").output
      let pkcs8 = try openssl("pkcs8", "-topk8", "-nocrypt", input: Array(sec1.utf8)).output
      #expect(behindParameters.contains("EC PARAMETERS") && pkcs8.contains("BEGIN PRIVATE KEY"))
      return [sec1, behindParameters, pkcs8, sec1.replacing("\n", with: "\r\n")]
    }

    @Test func areCheckedByAnotherProgramInEachFormOfTheKey() throws {
      let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      defer { try? FileManager.default.removeItem(at: folder) }
      let message = Array("2026-11-24T06:00:00Z:digest:/database/1".utf8)
      for form in try Self.forms() {
        let signature = try SigningKey(pem: form).signature(of: message)
        let (publicKey, file) = (folder.appending(path: "public.pem"), folder.appending(path: "signature"))
        try Data(Self.openssl("pkey", "-pubout", input: Array(form.utf8)).output.utf8).write(to: publicKey)
        try Data(signature).write(to: file)
        let arguments = ["dgst", "-sha256", "-verify", publicKey.path, "-signature", file.path]
        let verdict = try Self.openssl(
          arguments[0], arguments[1], arguments[2], arguments[3], arguments[4], arguments[5], input: message)
        #expect(verdict.status == 0, "\(verdict.output)")
      }
    }

    @Test func nameDateBodyAndPath() throws {
      let key = try ServerToServerKey(keyID: "abc", privateKey: SigningKey(pem: Self.sec1()))
      let headers = try key.headers(
        path: "/database/1", body: Array("{}".utf8), at: Timestamp(microseconds: 1_795_500_000_900_000))
      #expect(headers["X-Apple-CloudKit-Request-KeyID"] == "abc")
      #expect(headers["X-Apple-CloudKit-Request-ISO8601Date"] == "2026-11-24T06:00:00Z")
      #expect(headers["X-Apple-CloudKit-Request-SignatureV1"].flatMap { Data(base64Encoded: $0) } != nil)
      #expect(try SigningKey.digest([]).prefix(4) == [0xE3, 0xB0, 0xC4, 0x42])
    }

    @Test func needAKeyOfTheRightKind() throws {
      let sec1 = try Self.sec1()
      let otherCurve = try Self.openssl("ecparam", "-name", "secp384r1", "-genkey", "-noout").output
      let rsa = try Self.openssl("genpkey", "-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:1024").output
      let publicKey = try Self.openssl("pkey", "-pubout", input: Array(sec1.utf8)).output
      let locked = try Self.openssl(
        "pkcs8", "-topk8", "-passout", "pass:x", input: Array(sec1.utf8)
      ).output
      let wrong: [(text: String, words: String)] = [
        ("", "not PEM"), ("no key at all", "not PEM"), (otherCurve, "P-256"), (rsa, "P-256"),
        (publicKey, "no private key"), (locked, "encrypted"), (sec1 + sec1, "several"),
        (String(sec1.prefix(80)), "no private key"),
        (
          sec1.replacing("EC PRIVATE KEY-----\n", with: "EC PRIVATE KEY-----\n!!", maxReplacements: 1),
          "no private key"
        ),
        ("-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n", "no private key"),
      ]
      for (text, words) in wrong {
        let error = #expect(throws: SyncError.self) { _ = try SigningKey(pem: text) }
        #expect(error?.code == .invalidConfiguration)
        #expect(error?.message.contains(words) == true, "\(error?.message ?? "")")
        let secret = text.split(separator: "\n").dropFirst().first.map(String.init) ?? "none at all"
        #expect(error?.description.contains(secret) != true)
      }
    }

    @Test func keepTheKeyOutOfDescriptions() throws {
      let pem = try Self.sec1()
      let key = try SigningKey(pem: pem)
      var dumped = ""
      dump(try ServerToServerKey(keyID: "name", privateKey: key), to: &dumped)
      dump(key, to: &dumped)
      #expect(!dumped.contains("name") && !dumped.contains("["))
    }
  }
#endif
