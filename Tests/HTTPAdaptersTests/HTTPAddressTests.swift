import HTTPAdapters
import Testing

@Suite("Addresses")
struct HTTPAddressTests {
  @Test(arguments: [
    ("HTTPS://Example.COM/v1", "https://example.com/v1"), ("http://a:80/?q=1", "http://a/?q=1"),
    ("https://a:8443", "https://a:8443/"), ("http://[::1]:8888/v1", "http://[::1]:8888/v1"),
    ("http://a?b", "http://a/?b"),
  ])
  func anAddressIsReadAndWritten(_ text: String, _ written: String) {
    #expect(HTTPAddress(text)?.description == written)
  }

  @Test(arguments: [
    "", "https://", "https:///v1", "ftp://a/", "//a/", "/v1", "https://a@b/", "https://a:0/",
    "https://a:65536/",
    "https://a:1:2/", "https://a b/", "https://a\\b/", "https://a/#b", "https://a/\r\nX: y", "https://é/",
    "https://a:+1/", "https://[::1/",
  ])
  func whatIsNoAddressIsNotReadAsOne(_ text: String) {
    #expect(HTTPAddress(text) == nil)
  }

  @Test(arguments: [
    ("b", "https://a/x/b"), ("./b/../c?d=e", "https://a/x/c?d=e"), ("/../b", "https://a/b"),
    ("https://a/x/%2e%2E/b", "https://a/b"), ("..", "https://a/"), ("/b/.", "https://a/b/"),
    ("?q=a b|\"c\"", "https://a/x/y?q=a%20b%7C%22c%22"), ("/é?ü", "https://a/%C3%A9?%C3%BC"),
    (" /b\n ", "https://a/b"), ("/b?[]=1&c=%zz", "https://a/b?[]=1&c=%zz"), ("//b:1/c", "https://b:1/c"),
    ("/b\\c", "https://a/b%5Cc"), ("#top", "https://a/x/y"),
  ])
  func aReferenceIsResolvedAsBrowsersDo(_ reference: String, _ resolved: String) throws {
    let base = try #require(HTTPAddress("https://a/x/y"))
    #expect(base.resolving(reference)?.description == resolved)
  }

  @Test(arguments: ["https://a\\@b/", "https://é/", "ftp://a/", "//", ""])
  func aReferenceElsewhereIsNone(_ reference: String) throws {
    let base = try #require(HTTPAddress("https://a/x/y"))
    #expect(base.resolving(reference) == nil)
  }
}
