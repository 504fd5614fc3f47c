#pragma once

// The kernel's route messages: a socket for them, and the headers that number them. Empty where the kernel is not Linux.

#if defined(__linux__)

#include <errno.h>
#include <linux/if.h>
#include <linux/if_addr.h>
#include <linux/if_link.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/// Opens a socket that never blocks and hears some groups; the negated errno on failure.
static inline int cnetlink_open(unsigned int groups) {
  int file = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_ROUTE);
  if (file < 0) return -errno;
  struct sockaddr_nl own;
  memset(&own, 0, sizeof own);
  own.nl_family = AF_NETLINK;
  own.nl_groups = groups;
  if (bind(file, (struct sockaddr *)&own, sizeof own) == 0) return file;
  int error = errno;
  close(file);
  return -error;
}

static inline void cnetlink_close(int file) { close(file); }

/// Sends a message to the kernel; 0, or an errno.
static inline int cnetlink_send(int file, const void *bytes, long count) {
  struct sockaddr_nl kernel;
  memset(&kernel, 0, sizeof kernel);
  kernel.nl_family = AF_NETLINK;
  long sent = sendto(file, bytes, (size_t)count, 0, (struct sockaddr *)&kernel, sizeof kernel);
  return sent >= 0 ? 0 : errno;
}

/// Receives a datagram. Returns its length, 0 for one that is not from the kernel, or the negated errno: EMSGSIZE for one that
/// was longer than the buffer.
static inline long cnetlink_receive(int file, void *buffer, long capacity) {
  struct sockaddr_nl sender;
  memset(&sender, 0, sizeof sender);
  struct iovec part = {buffer, (size_t)capacity};
  struct msghdr message;
  memset(&message, 0, sizeof message);
  message.msg_name = &sender;
  message.msg_namelen = sizeof sender;
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  long count = recvmsg(file, &message, 0);
  if (count < 0) return -errno;
  // Other processes can address this socket as well.
  if (sender.nl_family != AF_NETLINK || sender.nl_pid != 0) return 0;
  return message.msg_flags & MSG_TRUNC ? -EMSGSIZE : count;
}

#endif
