// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.contract;

import java.util.Set;
import org.sparkrdma.verbs.device.TransportType;

/**
 * Allowed differences of an engine from the contract. A new one needs a review, together with the
 * engines' lists below.
 */
public enum Deviation {
  /**
   * Truncating a registered file makes reads beyond its new end fail. A card keeps the pages pinned
   * and still reads them.
   */
  TRUNCATION_IS_AN_ERROR,
  /**
   * Deregistration waits for a reading process that was stopped during a copy. A card reads without
   * the process.
   */
  STOPPED_READER_DELAYS_DEREGISTERING,
  /**
   * A queue pair that is destroyed ends its connection at once, which may flush a READ of the peer:
   * the loopback engine, and DiSNI, whose thread takes the event of that end. On a card the READ
   * first uses up its retries.
   */
  QUEUE_PAIRS_END_THEIR_CONNECTION,
  /** The peer ends the connection without a reason, and the refused work is flushed: iWARP. */
  REFUSALS_ARE_FLUSHES,
  /**
   * A SEND or WRITE completes when it is sent. Only the end of the connection reports a failure at
   * the peer: iWARP.
   */
  SENDS_SUCCEED_WHEN_SENT,
  /**
   * A WRITE that ends beyond its region is refused at the end of the region; earlier packets have
   * been written: iWARP, which checks each segment separately.
   */
  WRITES_ARE_CHECKED_BY_SEGMENT,
  /** A message without a posted receive ends the connection; other transports retry: iWARP. */
  RECEIVER_MUST_BE_READY,
  /** Peers may read every region of the protection domain whose key they know: siw. */
  REMOTE_READ_IS_NOT_CHECKED,
  /** An operation that the queue pair does not allow fails as an invalid request: rxe. */
  QUEUE_PAIR_ACCESS_IS_AN_INVALID_REQUEST,
  /** A receive that fails because of its own memory reports another code: rxe and siw. */
  RECEIVE_ERRORS_HAVE_OTHER_CODES,
  /** A region of more than 1 GiB is refused, because its list of pages is one allocation: rxe. */
  LONG_REGIONS_ARE_REFUSED,
  /**
   * An overrun completion queue loses completions without a report: DiSNI does not pass on
   * asynchronous events.
   */
  OVERRUN_IS_NOT_REPORTED,
  /** Each request that is posted is an object: DiSNI takes lists of requests. */
  POSTING_ALLOCATES,
  /** The MTU of a port is not known: DiSNI does not query ports. */
  MTU_IS_UNKNOWN;

  /** The soft engine. */
  public static final Set<Deviation> OF_SOFT =
      Set.of(
          TRUNCATION_IS_AN_ERROR,
          STOPPED_READER_DELAYS_DEREGISTERING,
          QUEUE_PAIRS_END_THEIR_CONNECTION);

  /** RoCE v2 on the kernel's rxe. */
  public static final Set<Deviation> OF_ROCE =
      Set.of(
          QUEUE_PAIR_ACCESS_IS_AN_INVALID_REQUEST,
          RECEIVE_ERRORS_HAVE_OTHER_CODES,
          LONG_REGIONS_ARE_REFUSED);

  /** iWARP on the kernel's siw. */
  public static final Set<Deviation> OF_IWARP =
      Set.of(
          REFUSALS_ARE_FLUSHES,
          SENDS_SUCCEED_WHEN_SENT,
          WRITES_ARE_CHECKED_BY_SEGMENT,
          RECEIVER_MUST_BE_READY,
          REMOTE_READ_IS_NOT_CHECKED,
          RECEIVE_ERRORS_HAVE_OTHER_CODES);

  /** iWARP on cards: the rules of the transport. No card was run. */
  public static final Set<Deviation> OF_IWARP_CARDS =
      Set.of(
          REFUSALS_ARE_FLUSHES,
          SENDS_SUCCEED_WHEN_SENT,
          WRITES_ARE_CHECKED_BY_SEGMENT,
          RECEIVER_MUST_BE_READY);

  /** DiSNI, in addition to those of the transport. */
  public static final Set<Deviation> OF_DISNI =
      Set.of(
          OVERRUN_IS_NOT_REPORTED,
          QUEUE_PAIRS_END_THEIR_CONNECTION,
          POSTING_ALLOCATES,
          MTU_IS_UNKNOWN);

  /**
   * The deviations that a device may have. A card has none of those of the soft drivers: one that
   * deviates fails a test, whose report says so.
   *
   * @param driver as in the report of {@code ./card}: {@code rxe}, {@code siw}, or that of a card
   */
  public static Set<Deviation> ofDevice(String driver, TransportType transport) {
    return switch (driver) {
      case "rxe" -> OF_ROCE;
      case "siw" -> OF_IWARP;
      default -> transport == TransportType.IWARP ? OF_IWARP_CARDS : Set.of();
    };
  }
}
