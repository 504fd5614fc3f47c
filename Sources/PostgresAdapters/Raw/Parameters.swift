#if Postgres
  import SyncModels

  /// The parameters of a statement, in PostgreSQL's binary format.
  struct Parameters {
    /// The values, one after another. Each ends with a zero, so an empty one has an address too.
    private var bytes: [UInt8] = []
    private var places: [Range<Int>?] = []

    var count: Int { places.count }

    mutating func add(_ number: Int64?) { append(number.map { Self.bytes(of: $0) }) }
    mutating func add(_ isTrue: Bool) { append([isTrue ? 1 : 0]) }
    mutating func add(text: String?) { append(text?.utf8) }
    mutating func add(bytes: [UInt8]?) { append(bytes) }
    mutating func add(_ column: ColumnArray) { append(column.encoded) }

    mutating func add(_ columns: [ColumnArray]) {
      for column in columns { add(column) }
    }

    mutating func add(_ key: StoredKey) {
      append(key.head)
      append(key.rest)
    }

    private mutating func append(_ value: (some Collection<UInt8>)?) {
      guard let value else { return places.append(nil) }
      let start = bytes.count
      bytes.append(contentsOf: value)
      places.append(start..<bytes.count)
      bytes.append(0)
    }

    /// Calls a body with the addresses and lengths of all values.
    ///
    /// A null pointer follows the addresses, as libpq expects it of a list of names.
    func withPointers<R>(_ body: (UnsafePointer<UnsafePointer<CChar>?>?, [Int32]) -> R) -> R {
      let lengths = places.map { Int32(truncatingIfNeeded: $0?.count ?? 0) }
      return bytes.withUnsafeBytes { bytes in
        let start = bytes.baseAddress?.assumingMemoryBound(to: CChar.self)
        var pointers = places.map { place in place.flatMap { start?.advanced(by: $0.lowerBound) } }
        pointers.append(nil)
        return pointers.withUnsafeBufferPointer { body($0.baseAddress, lengths) }
      }
    }

    static func bytes(of number: some FixedWidthInteger) -> [UInt8] {
      withUnsafeBytes(of: number.bigEndian) { Array($0) }
    }
  }

  /// One column of many rows, as an array in a single parameter.
  struct ColumnArray {
    /// The type of the elements, by its number in PostgreSQL.
    enum Element: UInt32 {
      case boolean = 16
      case bytes = 17
      case int64 = 20
      case int32 = 23
      case text = 25

      /// The name of the type in SQL.
      var sqlType: String {
        switch self {
        case .boolean: "boolean"
        case .bytes: "bytea"
        case .int64: "bigint"
        case .int32: "integer"
        case .text: "text"
        }
      }
    }

    private let element: Element
    private var bytes: [UInt8]
    private(set) var count = 0
    private var hasNulls = false

    // Five words: dimensions, nulls, element type, length and first index.
    private static let headerSize = 20

    init(_ element: Element) {
      self.element = element
      bytes = Array(repeating: 0, count: Self.headerSize)
    }

    mutating func reserve(_ size: Int) { bytes.reserveCapacity(bytes.count + size) }

    mutating func appendNull() {
      append(word: .max)
      hasNulls = true
      count += 1
    }

    mutating func append(_ number: Int64?) {
      guard let number else { return appendNull() }
      append(word: 8)
      withUnsafeBytes(of: number.bigEndian) { bytes.append(contentsOf: $0) }
      count += 1
    }

    mutating func append(_ number: Int32) {
      append(word: 4)
      withUnsafeBytes(of: number.bigEndian) { bytes.append(contentsOf: $0) }
      count += 1
    }

    mutating func append(_ isTrue: Bool) {
      append(word: 1)
      bytes.append(isTrue ? 1 : 0)
      count += 1
    }

    /// Appends a text as its bytes, for a column of bytes or of text.
    mutating func append(_ text: String?) {
      guard var text else { return appendNull() }
      text.withUTF8 { utf8 in
        append(word: UInt32(truncatingIfNeeded: utf8.count))
        bytes.append(contentsOf: utf8)
      }
      count += 1
    }

    mutating func append(_ value: ArraySlice<UInt8>?) {
      guard let value else { return appendNull() }
      append(word: UInt32(truncatingIfNeeded: value.count))
      bytes.append(contentsOf: value)
      count += 1
    }

    private mutating func append(word: UInt32) {
      withUnsafeBytes(of: word.bigEndian) { bytes.append(contentsOf: $0) }
    }

    /// The array with its header.
    fileprivate var encoded: [UInt8] {
      let header: [UInt32] = [1, hasNulls ? 1 : 0, element.rawValue, UInt32(truncatingIfNeeded: count), 1]
      guard count > 0 else { return [0, 0].flatMap(Self.word) + Self.word(element.rawValue) }
      var encoded = bytes
      encoded.replaceSubrange(0..<Self.headerSize, with: header.flatMap(Self.word))
      return encoded
    }

    private static func word(_ value: UInt32) -> [UInt8] { Parameters.bytes(of: value) }
  }

  extension [ColumnArray.Element] {
    /// The parameters of columns with these elements in SQL, numbered from one on.
    func placeholders(from first: Int = 1) -> String {
      enumerated().map { "$\($0.offset + first)::\($0.element.sqlType)[]" }.joined(separator: ", ")
    }
  }

  extension [ColumnArray] {
    /// Creates empty columns.
    init(_ elements: ColumnArray.Element...) { self = elements.map { ColumnArray($0) } }
  }

  /// One statement and its parameters.
  struct Statement {
    var sql: String
    var parameters = Parameters()
    /// Whether the server keeps the statement, and its plan, for the next time.
    var isKept = true

    init(_ sql: String, _ parameters: Parameters = Parameters(), isKept: Bool = true) {
      self.sql = sql
      self.parameters = parameters
      self.isKept = isKept
    }

    init(_ sql: String, isKept: Bool = true, _ fill: (inout Parameters) -> Void) {
      self.init(sql, isKept: isKept)
      fill(&parameters)
    }
  }
#endif
