public import SyncJSON
public import SyncModels

/// A JSON API, described: where each record type is listed, how pages follow, and what changed.
///
/// ```swift
/// var games = RESTAPI.Collection(Entity("games", references: [.to("teams", by: "home_team_id")]), path: "games")
/// games.records = "/data"
/// games.version = "/updated_at"
/// games.paging = .next("/meta/next")
/// games.delta = .since("updated_since")
/// let api = RESTAPI(base: "https://api.example.com/v1/", collections: [teams, games])
/// ```
///
/// The same description can be read from JSON; see ``init(json:named:)``.
public struct RESTAPI: Hashable, Sendable {
  /// The address that all paths begin with.
  public var base: String
  /// Our credentials, sent to the origin of ``base`` alone.
  public var credentials: HTTPCredentials?
  /// The record types.
  public var collections: [Collection]
  /// Further headers of each request. One of a type with the same name replaces it.
  public var headers: [String: HTTPSecret] = [:]
  /// Whose data the API shows to the credentials; `nil` if nothing tells it but the credentials.
  public var account: Account?
  /// The budget of requests of all types together; `nil` for any number.
  public var pace: Pace?
  /// Whether the API keeps members of a record that it does not know.
  public var keepsUnknownMembers = false

  /// Creates a description.
  public init(base: String, credentials: HTTPCredentials? = nil, collections: [Collection]) {
    self.base = base
    self.credentials = credentials
    self.collections = collections
  }

  /// The record types in sync order.
  ///
  /// - Throws: `invalidConfiguration` for invalid names, a cycle, or a missing type.
  public var schema: SyncSchema {
    get throws(SyncError) { try SyncSchema(collections.map(\.entity)) }
  }

  /// Where the account is told whose data the API shows.
  public enum Account: Hashable, Sendable {
    /// In the answer to a request for this path, at this pointer: text or a number.
    case at(path: String, id: JSONPointer)
    /// In a place like that of a secret.
    case value(HTTPSecret)
  }

  /// A budget of requests.
  public struct Pace: Hashable, Sendable {
    /// The most requests in any span of this length.
    public var requests: Int
    /// The length of the span.
    public var span: Duration

    /// Creates a budget.
    public init(_ requests: Int, in span: Duration) {
      self.requests = requests
      self.span = span
    }
  }

  /// How one record type is read and written.
  public struct Collection: Hashable, Sendable {
    /// The type, with its references and indexes.
    public var entity: Entity
    /// The path of the list, relative to the base.
    public var path: String
    /// The parameters of each request for a list. They select the mirrored records.
    ///
    /// A record that leaves the selection shows in no delta. ``sweepEvery`` finds it.
    public var query: [String: String] = [:]
    /// Further headers of each request.
    public var headers: [String: HTTPSecret] = [:]
    /// How a list is asked for; `nil` for a GET.
    public var request: ListRequest?
    /// One list for each of some values; `nil` for one list.
    public var each: Each?
    /// A list under each record of another type; `nil` for one list.
    public var under: Parent?
    /// The list of records in an answer; the whole answer by default.
    ///
    /// `*` stands for each element on the way, as in `/days/*/games`. It leads to lists, or to single
    /// records.
    public var records: JSONPointer = ""
    /// Which elements of the list are records; `nil` for all.
    public var filter: Filter?
    /// What makes an answer with the status 200 a failure: anything but null and an empty list.
    public var errors: JSONPointer?
    /// The key in a record: text or a whole number, which is taken as its decimal digits.
    public var id: JSONPointer = "/id"
    /// Further parts of the key. The parts are joined by slashes, with `~1` for a slash in a part and
    /// `~0` for a tilde.
    public var furtherID: [JSONPointer] = []
    /// The version in a record: a time in ISO 8601, or a number that grows with each change.
    public var version: JSONPointer?
    /// How the version is written, where it is neither.
    public var versionFormat: TimeFormat?
    /// The mark of a deleted record: `true`, or the time of its deletion.
    public var deleted: JSONPointer?
    /// What the mark of a deleted record is, where it is neither.
    public var deletedIf: Mark?
    /// How pages follow; `nil` for an API that lists everything in one answer.
    public var paging: Paging?
    /// The cursor of the first page; `nil` for none.
    public var firstCursor: String?
    /// The flag in an answer that tells whether further pages follow; `nil` for none.
    public var more: Flag?
    /// Whether next pages are asked for at the base's own origin, whatever origin their links name.
    ///
    /// Some APIs behind a proxy name their inner host, or another scheme.
    public var rebasesLinks = false
    /// The parameter for the number of records in a page.
    public var pageSize: PageSize?
    /// The number of records that a listing has in all.
    public var total: JSONPointer?
    /// How changes are asked for; `nil` for an API that can only list everything.
    public var delta: Delta?
    /// The text in which `{since}` stands for the time of ``Delta/since(_:format:overlap:clock:)``.
    public var sinceTemplate: String?
    /// The spans of time in which changes are asked for; `nil` for one without an end.
    public var window: Window?
    /// How often everything is listed, to find what deltas do not show.
    ///
    /// By default, the engine's ``SyncOptions/deletionCheckInterval`` if deltas do not show
    /// deletions, a day if pages shift, and never otherwise.
    public var sweepEvery: Duration?
    /// The path of one record, with `{id}` for its key.
    public var item: String?
    /// The record in the answer of ``item`` and of writes; the whole answer by default.
    public var itemRecord: JSONPointer = ""
    /// How records are written; `nil` for an API that is only read.
    public var push: Push?

    /// Creates a description of a collection that lists everything in one answer.
    public init(_ entity: Entity, path: String) {
      self.entity = entity
      self.path = path
    }
  }

  /// What the mark of a deleted record is.
  public enum Mark: Hashable, Sendable {
    /// This word, of several.
    case word(String)
    /// Any value but null.
    case presence
  }

  /// A flag in an answer: true, or a number above 0.
  public struct Flag: Hashable, Sendable {
    /// Where it is. A missing one, null and an empty text are false.
    public var pointer: JSONPointer
    /// The value while pages follow.
    public var whileMore: Bool

    /// Creates a flag.
    public init(_ pointer: JSONPointer, whileMore: Bool = true) {
      self.pointer = pointer
      self.whileMore = whileMore
    }
  }

  /// How the pages of a list follow each other.
  public enum Paging: Hashable, Sendable {
    /// A `Link` header with this relation, usually `next` (RFC 8288).
    case link(String)
    /// The next page's address in the answer; none, or null, on the last page.
    case next(JSONPointer)
    /// A cursor in the answer, for the next request; none, or null, at the end.
    case cursor(JSONPointer, parameter: String)
    /// A cursor in a header of the answer.
    case cursorHeader(String, parameter: String)
    /// A cursor in the last record of the page before. Pages end with an empty one, or by
    /// ``Collection/more``.
    case after(JSONPointer, parameter: String)
    /// A page number. The first page has the number `first`.
    ///
    /// Pages end with an empty one, or with a 404.
    case page(String, first: Int = 1)
    /// A number of records to skip.
    case offset(String)
  }

  /// The parameter for the number of records in a page.
  public struct PageSize: Hashable, Sendable {
    /// The name of the parameter.
    public var parameter: String
    /// The most that the API gives.
    public var maximum: Int?

    /// Creates a page size.
    public init(_ parameter: String, maximum: Int? = nil) {
      self.parameter = parameter
      self.maximum = maximum
    }
  }

  /// How changes are asked for.
  public enum Delta: Hashable, Sendable {
    /// A time, by the server's clock, since which records have changed.
    ///
    /// The clock is the answer's `Date`, or a member of the answer. Deltas reach back by the
    /// overlap, for changes that become visible later than their time says.
    case since(
      String, format: TimeFormat = .rfc3339, overlap: Duration = .seconds(30), clock: JSONPointer? = nil)
    /// A token in the answer, which a later request repeats.
    case token(JSONPointer, parameter: String)
    /// The address of the next delta, in the last answer of a listing.
    case next(JSONPointer)
    /// Conditional requests (RFC 9110): unchanged pages are not sent again.
    ///
    /// The last page of `Link` headers is: an answer that it has not changed may lack the header.
    case etag
  }

  /// How records are written.
  public struct Push: Hashable, Sendable {
    /// The request that creates or replaces a record.
    ///
    /// A PATCH sends removed members as null (RFC 7386). `nil` for an API that changes no record.
    public var write: Request?
    /// The request that makes a record under a key that the API gives it, such as `POST games`.
    ///
    /// The record has a key of the app's own until the answer comes, unlike those of the API, as a
    /// UUID is. Then the record, its edits and the references to it move to the key of the API. The
    /// request has no key. `nil` for an API that takes the app's keys.
    public var create: Request?
    /// The header by which the API knows a repeated creation again, such as `Idempotency-Key`.
    public var idempotencyHeader: String?
    /// The list that finds a created record by a member that the app has set to its key.
    ///
    /// It has `{key}` for the app's key, as in `games?external_id={key}`, and its first record counts.
    /// Without this and ``idempotencyHeader``, a creation whose answer is lost waits for
    /// ``LocalEdits/retry(_:_:)`` or ``LocalEdits/discard(_:)``.
    public var find: String?
    /// The request that deletes a record; `nil` for an API that deletes none.
    public var delete: Request?
    /// What makes a write fail if another client was faster.
    ///
    /// Without one, the record is looked at before it is written, and a write of another client
    /// between the two is lost.
    public var precondition: Precondition?

    /// Whether a PATCH replaces the objects in a record, so that they are sent whole.
    ///
    /// By default it merges them (RFC 7386), and they are sent with what the edit changed alone.
    public var replacesObjects = false

    /// The member of a sent body that holds the record; the whole body by default.
    public var body: JSONPointer = ""
    /// The reason in the answer to a refused write; where the common formats have it by default.
    public var reason: JSONPointer?

    /// The most edits that are sent side by side, 1 to 64.
    public var atOnce = 8

    /// Creates a description of writes.
    public init(
      write: Request? = nil, create: Request? = nil, delete: Request? = nil, precondition: Precondition? = nil
    ) {
      self.write = write
      self.create = create
      self.delete = delete
      self.precondition = precondition
    }
  }

  /// A method and a path with `{id}`, such as `PUT games/{id}`.
  public struct Request: Hashable, Sendable {
    /// The method.
    public var method: String
    /// The path, relative to the base.
    public var path: String

    /// Creates a request.
    public init(_ method: String, _ path: String) {
      self.method = method
      self.path = path
    }
  }

  /// What makes a write fail if another client was faster.
  public enum Precondition: String, Hashable, Sendable, CaseIterable {
    /// `If-Match` with the `ETag` that a look at the record gave.
    case etag
    /// The version of the base, in the sent record. The API compares it, and answers 409 or 412.
    ///
    /// An edit that is sent by PATCH then takes one request instead of two.
    case version
  }
}
