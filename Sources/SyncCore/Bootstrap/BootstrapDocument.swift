import SyncJSON
import SyncModels

/// The parsed document of a bundled data set: a token and records for each type.
struct BootstrapDocument {
  struct Section: Sendable {
    var token: SyncToken?
    var records: [ArraySlice<UInt8>] = []
  }

  private(set) var sections: [RecordType: Section] = [:]

  init(_ bytes: [UInt8]) throws(SyncError) {
    var format: Int64?
    do throws(JSONError) {
      try JSONScanner.members(of: bytes[...]) { member throws(JSONError) in
        switch member.key {
        case "format":
          format = member.value.integer()
        case "types":
          try JSONScanner.members(of: member.value.bytes) { type throws(JSONError) in
            sections[RecordType(type.key)] = try Self.section(type.value)
          }
        default:
          break
        }
      }
    } catch {
      throw Self.flaw(error.description)
    }
    guard format == 1 else { throw Self.flaw("Its \"format\" is not 1.") }
  }

  private static func section(_ value: JSONValueSlice) throws(JSONError) -> Section {
    var section = Section()
    try JSONScanner.members(of: value.bytes) { member throws(JSONError) in
      switch member.key {
      case "token":
        section.token = member.value.string().map { SyncToken($0) }
      case "records":
        try JSONScanner.elements(of: member.value.bytes) { element throws(JSONError) in
          section.records.append(element.bytes)
        }
      default:
        break
      }
    }
    return section
  }

  static func flaw(_ message: String) -> SyncError {
    SyncError(
      .inconsistentData, during: "reading the bundled data set",
      "The bundled data set is not of the form {\"format\":1,\"types\":{…}}. \(message)")
  }
}
