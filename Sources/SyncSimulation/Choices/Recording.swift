/// The choices of a world, to replay, shrink and keep.
public struct Recording: Hashable, Sendable {
  /// One number for each choice. Missing numbers at the end are zero, the mildest choice.
  public var choices: [UInt32]
  /// The only fault, in a world without others.
  public var fault: Fault?
  /// The version of the library that made the choices; `nil` if it is unknown.
  ///
  /// Another version may make another world of them.
  public var version: String?
  /// The possible hazards of the world; `nil` for those of the simulation that replays it.
  public var hazards: Set<Hazard>?

  /// One fault at one call.
  public struct Fault: Hashable, Sendable {
    /// The number of the call, counted from 1.
    public var call: Int
    /// The kind of the fault.
    public var kind: SweptFault

    /// Creates a fault.
    public init(call: Int, kind: SweptFault) {
      self.call = call
      self.kind = kind
    }
  }

  /// Creates a recording.
  public init(
    choices: [UInt32], fault: Fault? = nil, version: String? = nil, hazards: Set<Hazard>? = nil
  ) {
    self.choices = choices
    self.fault = fault
    self.version = version
    self.hazards = hazards
  }

  private static let title = "canonicalsync-world 1"

  /// The recording as a small text file: a title, the version, any hazards and
  /// fault, and the choices.
  public var text: String {
    var lines = [Self.title]
    if let version { lines.append("version \(version)") }
    if let hazards { lines.append("hazards \(hazards.map(\.rawValue).sorted().joined(separator: ","))") }
    if let fault { lines.append("fault \(fault.kind.rawValue) \(fault.call)") }
    var rest = choices[...]
    while !rest.isEmpty {
      lines.append(rest.prefix(32).map(String.init).joined(separator: " "))
      rest = rest.dropFirst(32)
    }
    return lines.joined(separator: "\n") + "\n"
  }

  /// Parses the format of ``text``; `nil` for any other text.
  public init?(text: String) {
    var lines = text.split(separator: "\n")
    guard lines.first.map(String.init) == Self.title else { return nil }
    lines.removeFirst()
    var version: String?
    if let line = lines.first, line.hasPrefix("version ") {
      version = String(line.dropFirst("version ".count))
      lines.removeFirst()
    }
    var hazards: Set<Hazard>?
    if let line = lines.first, line.hasPrefix("hazards ") {
      let names = line.dropFirst("hazards ".count).split(separator: ",")
      hazards = Set(names.compactMap { Hazard(rawValue: String($0)) })
      guard hazards?.count == names.count else { return nil }
      lines.removeFirst()
    }
    var fault: Fault?
    if let line = lines.first, line.hasPrefix("fault ") {
      let words = line.split(separator: " ")
      guard words.count == 3, let kind = SweptFault(rawValue: String(words[1])), let call = Int(words[2])
      else {
        return nil
      }
      fault = Fault(call: call, kind: kind)
      lines.removeFirst()
    }
    var choices: [UInt32] = []
    for word in lines.joined(separator: " ").split(separator: " ") {
      guard let choice = UInt32(word) else { return nil }
      choices.append(choice)
    }
    self.init(choices: choices, fault: fault, version: version, hazards: hazards)
  }
}
