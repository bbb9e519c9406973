// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.guest;

import java.util.List;
import java.util.Locale;

/** A message of the set-up of a connection that the wire loses once: a row of the page. */
enum LostMessage {
  REQ("rocev2", "once", "rocev2-lost-req"),
  REP("rocev2", "once", "rocev2-lost-rep"),
  RTU("rocev2", "read", "rocev2-lost-rtu"),
  MPA_REQUEST("iwarp", "read", "iwarp-lost-request"),
  MPA_REPLY("iwarp", "read", "iwarp-lost-reply");

  /** The first columns of the table. */
  static final List<String> COLUMNS = List.of("lost", "transport", "expected of the first job");

  /** The page above the table. */
  static final String HEAD =
      """

      ## Lost messages of a connection's set-up

      `LostMessagesIT`, with `-Dupdate.docs=true` as above, writes this table. The wire loses the first message of a kind between the executors, once. The time-outs are the
      defaults of the plug-in (`connect.timeout`, `request.timeout` and `peer.timeout` are not set; the other settings are those of `test`). The first job has one
      reader, so one executor connects. Each row asserts right answers, no quarantined peer, the first job as expected (`read`: all bytes by READ; `once`: each
      byte once, by READ or by TCP), and all bytes of the next job by READ. RoCE's kernel repeats a REQ after 6.1 s; blocks wait 5 s (`connect.timeout`), and
      the attempt goes on for 15 s. So blocks use TCP; on a busy machine they began to wait later, and once the connection came in time.
      A REP is repeated at about the time when the blocks stop to wait: of two runs on 2026-11-25 one had all bytes by READ and the other all by TCP. So `once`
      is asserted of both; `ConnectionAttemptsTest` asserts the order of events, with its own clock. The initiator's first message stands for a lost RTU. TCP repeats the
      messages of iWARP. `.ci/run` runs the row REQ.

      """;

  private final String transport;
  private final String expected;
  private final String application;

  LostMessage(String transport, String expected, String application) {
    this.transport = transport;
    this.expected = expected;
    this.application = application;
  }

  /** The word of {@code ./guest ctl NAME lose}. */
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

  /** Values of {@link #COLUMNS}. */
  List<String> columns() {
    return List.of(word(), transport, expected);
  }

  /** The name of its result. */
  String key() {
    return "lost " + word().toLowerCase(Locale.ROOT);
  }
}
