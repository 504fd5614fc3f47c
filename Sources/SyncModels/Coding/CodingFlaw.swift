/// What is wrong with a value that was not encoded or decoded, without its contents.
package struct CodingFlaw: CustomStringConvertible {
  package let description: String

  package init(_ error: any Error) {
    switch error {
    case DecodingError.keyNotFound(let key, let context):
      description = Self.sentence(
        context.codingPath + [key], "The member is missing.", context.underlyingError)
    case DecodingError.typeMismatch(_, let context), DecodingError.valueNotFound(_, let context),
      DecodingError.dataCorrupted(let context):
      description = Self.sentence(context.codingPath, context.debugDescription, context.underlyingError)
    case EncodingError.invalidValue(_, let context):
      description = Self.sentence(context.codingPath, context.debugDescription, context.underlyingError)
    default: description = "\(error)"
    }
  }

  private static func sentence(
    _ path: [any CodingKey], _ problem: String, _ cause: (any Error)?
  ) -> String {
    let steps = path.map { key in key.intValue.map { "[\($0)]" } ?? key.stringValue }
    let place = steps.isEmpty ? "" : steps.joined(separator: ".") + ": "
    return place + problem + (cause.map { " The text \($0)." } ?? "")
  }
}
