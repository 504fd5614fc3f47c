#pragma once

// What Swift cannot say itself: variadic functions, unions, and what libcurl's versions spell differently.

#define CURL_DISABLE_TYPECHECK
#include <curl/curl.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <sys/socket.h>

#if LIBCURL_VERSION_NUM < 0x074400
#error "CanonicalSync needs libcurl 7.68 or later."
#endif

/// Receives bytes; another number than their count breaks the transfer off.
typedef size_t (*ccurl_receiver)(char *bytes, size_t size, size_t count, void *context);

static inline CURLcode ccurl_set_number(CURL *easy, CURLoption option, long value) {
  return curl_easy_setopt(easy, option, value);
}

static inline CURLcode ccurl_set_text(CURL *easy, CURLoption option, const char *value) {
  return curl_easy_setopt(easy, option, value);
}

static inline CURLcode ccurl_set_headers(CURL *easy, struct curl_slist *headers) {
  return curl_easy_setopt(easy, CURLOPT_HTTPHEADER, headers);
}

/// Sets the body; libcurl copies it.
static inline CURLcode ccurl_set_body(CURL *easy, const void *bytes, size_t count) {
  CURLcode code = curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)count);
  return code != CURLE_OK ? code : curl_easy_setopt(easy, CURLOPT_COPYPOSTFIELDS, bytes ? bytes : "");
}

/// Sets where failures are described, in CURL_ERROR_SIZE bytes that outlive the handle.
static inline CURLcode ccurl_set_error_text(CURL *easy, char *text) {
  return curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, text);
}

/// Sets what takes the answer: each line of its headers, and its body.
static inline CURLcode ccurl_set_receivers(
    CURL *easy, ccurl_receiver header, ccurl_receiver body, void *context) {
  CURLcode code = curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, header);
  if (code == CURLE_OK) code = curl_easy_setopt(easy, CURLOPT_HEADERDATA, context);
  if (code == CURLE_OK) code = curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, body);
  return code != CURLE_OK ? code : curl_easy_setopt(easy, CURLOPT_WRITEDATA, context);
}

/// A socket that no process inherits which this one starts.
static inline curl_socket_t ccurl_open_socket(void *context, curlsocktype purpose, struct curl_sockaddr *address) {
  (void)context;
  (void)purpose;
  return socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

/// Sets what is the same for every transfer: no signals, no protocol but HTTP, sockets of this process alone.
static inline CURLcode ccurl_set_manners(CURL *easy) {
  CURLcode code = curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
  if (code == CURLE_OK) code = curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, ccurl_open_socket);
#if LIBCURL_VERSION_NUM >= 0x075500
  if (code == CURLE_OK) code = curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
#else
  if (code == CURLE_OK) code = curl_easy_setopt(easy, CURLOPT_PROTOCOLS, CURLPROTO_HTTP | CURLPROTO_HTTPS);
#endif
#if LIBCURL_VERSION_NUM >= 0x075700
  // A name that is still being looked up does not hold the thread up when its transfer is given up.
  if (code == CURLE_OK) code = curl_easy_setopt(easy, CURLOPT_QUICK_EXIT, 1L);
#endif
  return code;
}

/// A number that libcurl knows of a transfer; -1 if it does not.
static inline long ccurl_number(CURL *easy, CURLINFO info) {
  long number = -1;
  return curl_easy_getinfo(easy, info, &number) == CURLE_OK ? number : -1;
}

static inline CURLMcode ccurl_multi_set_number(CURLM *multi, CURLMoption option, long value) {
  return curl_multi_setopt(multi, option, value);
}

/// The next transfer that has ended, and how; NULL if there is none.
static inline CURL *ccurl_next_ended(CURLM *multi, CURLcode *result) {
  int rest;
  for (CURLMsg *message; (message = curl_multi_info_read(multi, &rest));) {
    if (message->msg != CURLMSG_DONE) continue;
    *result = message->data.result;
    return message->easy_handle;
  }
  return NULL;
}

/// Starts a thread that no signal interrupts which is meant for the process; 0, or an errno.
static inline int ccurl_start_thread(void *(*body)(void *), void *context) {
  sigset_t all, before;
  pthread_t thread;
  pthread_attr_t attributes;
  sigfillset(&all);
  // What a fault raises has to reach the handler that tells of it.
  int faults[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGABRT, SIGSYS};
  for (size_t index = 0; index < sizeof faults / sizeof *faults; index++) sigdelset(&all, faults[index]);
  int code = pthread_attr_init(&attributes);
  if (code) return code;
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  pthread_sigmask(SIG_BLOCK, &all, &before);
  code = pthread_create(&thread, &attributes, body, context);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  pthread_attr_destroy(&attributes);
  return code;
}
