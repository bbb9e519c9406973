// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.guest;

/** A message of the set-up of a connection that the wire loses once. */
enum LostMessage {
  REQ("once", "rocev2-lost-req"),
  REP("once", "rocev2-lost-rep"),
  RTU("read", "rocev2-lost-rtu"),
  MPA_REQUEST("read", "iwarp-lost-request"),
  MPA_REPLY("read", "iwarp-lost-reply");

  private final String expected;
  private final String application;

  LostMessage(String expected, String application) {
    this.expected = expected;
    this.application = application;
  }

  /** The word of {@code ./dev/guest ctl NAME lose}. */
  String word() {
    return name().replace('_', '-');
  }

  /** The application whose first connection loses it, see {@code ClusterNode}. */
  String application() {
    return application;
  }

  /** Bytes of the first job: read, or once, which is by READ or TCP. */
  String expected() {
    return expected;
  }
}
