// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.estimate;

import java.util.List;
import java.util.Locale;

/**
 * What one attempt of an application could save. Names are those of the JSON; shares are parts of
 * the time of its jobs. Where there is no verdict, what could be saved is null.
 *
 * @param attempt empty where the cluster manager has none
 * @param log where its events are
 * @param why the verdict with its reason, or why there is none
 * @param seconds the time of its jobs
 * @param remoteBytes that the plug-in would fetch, with their number of blocks
 * @param fetchWaitShare the part of their time that tasks waited for remote blocks
 * @param savedCpuSecondsRegistered CPU time of both ends of the transfer, with registered files
 * @param savedCpuSecondsCopies the same with copies
 * @param waitingAtMost the share without any waiting that a transfer could avoid
 * @param networkFloor the share that the network needs for the bytes, and no transfer saves
 * @param low the share that is saved at least
 */
public record Estimation(
    String id,
    String attempt,
    String name,
    String log,
    String sparkVersion,
    Verdict verdict,
    String why,
    double seconds,
    long tasks,
    long remoteBytes,
    long remoteBlocks,
    double meanBlockBytes,
    double fetchWaitShare,
    Double savedCpuSecondsRegistered,
    Double savedCpuSecondsCopies,
    Double waitingAtMost,
    Double networkFloor,
    Double low,
    Double likely,
    Double high,
    List<String> notes) {
  /** Two equal runs differ by this part of their time. */
  private static final double CHANCE = 0.05;

  /** Whether it is worth the work. */
  public enum Verdict {
    /** More is likely saved than two equal runs differ by. */
    WORTH_A_PILOT,
    /** Less is likely saved, but more may be. */
    UNCLEAR,
    /** No more is saved than two equal runs differ by. */
    NOT_WORTH_IT,
    /** There is none. */
    NONE;

    static Verdict of(double likely, double high) {
      if (likely >= CHANCE) {
        return WORTH_A_PILOT;
      }
      return high >= CHANCE ? UNCLEAR : NOT_WORTH_IT;
    }

    @Override
    public String toString() {
      return name().toLowerCase(Locale.ROOT).replace('_', ' ');
    }
  }
}
