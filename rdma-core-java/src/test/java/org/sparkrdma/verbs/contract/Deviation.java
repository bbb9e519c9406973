// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.contract;

import java.util.Set;

/**
 * Every way in which an engine may differ from the contract. A new one is reviewed here, together
 * with the engines' lists below.
 */
public enum Deviation {
  /**
   * Truncating a registered file makes reads beyond its new end fail. A card has the pages pinned
   * and goes on reading them.
   */
  TRUNCATION_IS_AN_ERROR,
  /**
   * A SEND to a stopped process waits for it, without time-out. A card takes it into a posted
   * receive all the same.
   */
  SEND_NEEDS_THE_PEER_TO_RUN,
  /**
   * Deregistering waits for a reader that was stopped in the middle of a copy. A card reads by
   * itself.
   */
  STOPPED_READER_DELAYS_DEREGISTERING,
  /** The peer ends the connection without a word of why: what it refused is flushed. So iWARP. */
  REFUSALS_ARE_FLUSHES,
  /**
   * A SEND or WRITE is done when it is sent: what becomes of it at the peer, only the end of the
   * connection tells. So iWARP.
   */
  SENDS_SUCCEED_WHEN_SENT,
  /**
   * A WRITE that ends beyond its region is refused when its packets reach the end; those before it
   * have been written. So iWARP, which checks each segment by itself.
   */
  WRITES_ARE_CHECKED_BY_SEGMENT,
  /** A message that finds no receive ends the connection, where others try again. So iWARP. */
  RECEIVER_MUST_BE_READY,
  /** Peers may read any region of the protection domain whose key they know. So siw. */
  REMOTE_READ_IS_NOT_CHECKED,
  /** What a queue pair does not allow is told as an invalid request. So rxe. */
  QUEUE_PAIR_ACCESS_IS_AN_INVALID_REQUEST,
  /** A receive that fails for its own memory tells another code. So rxe and siw. */
  RECEIVE_ERRORS_HAVE_OTHER_CODES,
  /** A region of more than a gibibyte is refused: its list of pages is one allocation. So rxe. */
  LONG_REGIONS_ARE_REFUSED,
  /**
   * A completion queue that is overrun loses completions without a word: DiSNI hands on nothing
   * that a device reports by itself.
   */
  OVERRUN_IS_NOT_TOLD;

  /** Of the soft engine. */
  public static final Set<Deviation> OF_SOFT =
      Set.of(
          TRUNCATION_IS_AN_ERROR, SEND_NEEDS_THE_PEER_TO_RUN, STOPPED_READER_DELAYS_DEREGISTERING);

  /** Of RoCE, as the kernel's rxe does it. */
  public static final Set<Deviation> OF_ROCE =
      Set.of(
          QUEUE_PAIR_ACCESS_IS_AN_INVALID_REQUEST,
          RECEIVE_ERRORS_HAVE_OTHER_CODES,
          LONG_REGIONS_ARE_REFUSED);

  /** Of iWARP, as the kernel's siw does it. */
  public static final Set<Deviation> OF_IWARP =
      Set.of(
          REFUSALS_ARE_FLUSHES,
          SENDS_SUCCEED_WHEN_SENT,
          WRITES_ARE_CHECKED_BY_SEGMENT,
          RECEIVER_MUST_BE_READY,
          REMOTE_READ_IS_NOT_CHECKED,
          RECEIVE_ERRORS_HAVE_OTHER_CODES);

  /** Of DiSNI, besides those of what is below it. */
  public static final Set<Deviation> OF_DISNI = Set.of(OVERRUN_IS_NOT_TOLD);
}
