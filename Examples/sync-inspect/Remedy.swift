import CanonicalSync

/// What a person does about each error code, in short. The guide for a call at night says more.
enum Remedy {
  /// What to do about an error, by its code's name; `nil` for an unknown one, as of a newer library.
  static func words(for code: String) -> String? {
    all.first { $0.code.description == code }?.words
  }

  /// All of them.
  static let all: [(code: SyncError.Code, words: String)] = [
    (.remoteUnavailable, "wait; syncs try again with growing pauses"),
    (.offline, "nothing; syncs start again when the network is back"),
    (
      .syncAlreadyInProgress, "nothing; if no other process should sync, find it by the number in the message"
    ),
    (.leaseLost, "nothing; another process took over"),
    (.quotaExceeded, "raise the remote's quota, or delete records there"),
    (.authentication, "renew the credentials"),
    (.untrustedServer, "look at the certificate, or name the authority with `--certificate-authorities`"),
    (.permissionDenied, "grant the right at the remote, or correct the address"),
    (.tokenExpired, "nothing; a full listing follows"),
    (.invalidResponse, "look at the address in the message; it is tried again"),
    (.inconsistentData, "compare them with the description: `sync-mirror --check`"),
    (.invalidConfiguration, "correct what the message names"),
    (.invalidEdit, "correct the edit"),
    (.changedMeanwhile, "read again, and edit that"),
    (.otherAccount, "open another store, or make this one forget the account"),
    (.batchTooLarge, "nothing; smaller batches follow"),
    (.pullIncomplete, "sync, and call again"),
    (.declarationsReplaced, "restart this program; reads and edits go on meanwhile"),
    (.storeFailure, "look at the system's reason in the message"),
    (.storeBusy, "try again"),
    (.storeFull, "make room on the disk"),
    (.storeReadOnly, "correct the rights, or use the new place"),
    (.storeNewer, "update this program"),
    (.storeUnreadable, "`sync-inspect verify`, then `sync-inspect salvage`"),
    (.cancelled, "run it again to continue"),
    (.undecodable, "correct the type, or the record at the remote"),
  ]
}
