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
}
