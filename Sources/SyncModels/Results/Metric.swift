/// One number for a metrics system: a stable name, labels and a value.
///
/// Names follow the conventions of Prometheus: words in lower case joined by `_`, base units such
/// as `seconds`, and `_total` at the end of a counter.
public struct Metric: Hashable, Sendable {
  /// The kind of a number.
  public enum Kind: String, Hashable, Sendable {
    /// It only grows, and starts at zero with its process or store.
    case counter
    /// It goes up and down.
    case gauge
  }

  /// A label, which distinguishes numbers of one name.
  public struct Label: Hashable, Sendable {
    /// The label's name.
    public var name: String
    /// The label's value, any text.
    public var value: String

    /// Creates a label.
    public init(_ name: String, _ value: String) {
      self.name = name
      self.value = value
    }
  }

  /// The name, with the library's prefix `canonicalsync_`.
  public var name: String
  /// The kind of the number.
  public var kind: Kind
  /// The meaning, in one sentence.
  public var help: String
  /// The labels, in a fixed order for each name.
  public var labels: [Label]
  /// The value, in the unit that the name ends in.
  public var value: Double

  /// Creates a number.
  public init(_ name: String, _ kind: Kind, _ help: String, labels: [Label] = [], value: Double) {
    self.name = name
    self.kind = kind
    self.help = help
    self.labels = labels
    self.value = value
  }
}

extension Sequence<Metric> {
  /// The numbers in Prometheus' text format, version 0.0.4.
  ///
  /// Numbers of one name are together, under its help and type. Names and labels are sorted, so
  /// equal numbers give equal texts.
  ///
  /// - Complexity: O(*n* log *n*) in the numbers.
  public var prometheusText: String {
    var text = ""
    for (name, metrics) in Dictionary(grouping: self, by: \.name).sorted(by: { $0.key < $1.key }) {
      guard let first = metrics.first else { continue }
      text += "# HELP \(name) \(Self.escaped(first.help, quotes: false))\n"
      text += "# TYPE \(name) \(first.kind.rawValue)\n"
      let lines = metrics.map { metric in
        let labels = metric.labels.map { "\($0.name)=\"\(Self.escaped($0.value, quotes: true))\"" }
        let suffix = labels.isEmpty ? "" : "{\(labels.joined(separator: ","))}"
        return "\(name)\(suffix) \(Self.spelled(metric.value))\n"
      }
      text += lines.sorted().joined()
    }
    return text
  }

  private static func escaped(_ text: String, quotes: Bool) -> String {
    var escaped = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\\": escaped += "\\\\"
      case "\n": escaped += "\\n"
      case "\"" where quotes: escaped += "\\\""
      default: escaped.unicodeScalars.append(scalar)
      }
    }
    return escaped
  }

  /// A number as the format has it: whole numbers without a fraction.
  private static func spelled(_ value: Double) -> String {
    if value.isNaN { return "NaN" }
    if value.isInfinite { return value > 0 ? "+Inf" : "-Inf" }
    return value.rounded() == value && value.magnitude < 0x1p53 ? String(Int64(value)) : String(value)
  }
}
