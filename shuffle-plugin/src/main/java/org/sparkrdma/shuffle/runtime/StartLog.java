// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.runtime;

import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Lines about the start and the end of RDMA in one executor. No method throws: without memory for a
 * line, the steps after it must be done all the same. Confined to the runtime's thread, or to its
 * creator when the system refuses that thread.
 */
final class StartLog {
  private static final Logger LOG = LoggerFactory.getLogger(StartLoop.class);

  /** Ends the WARN of a first start that fails. */
  private static final String RUN_DOCTOR =
      "First run the command doctor of the plug-in's jar on this host: it says what to do";

  private final RuntimeLifecycle lifecycle;
  private final RestartBackoff backoff;

  StartLog(RuntimeLifecycle lifecycle, RestartBackoff backoff) {
    this.lifecycle = lifecycle;
    this.backoff = backoff;
  }

  /** The first start has failed, and others follow. */
  void offForNow() {
    try {
      LOG.warn(
          "RDMA is not used in this executor until it can be started: {}. {}",
          String.join("; ", lifecycle.reasons()),
          RUN_DOCTOR);
    } catch (Throwable e) {
      // No memory for the line.
    }
  }

  /** RDMA is off for the whole life of the executor. */
  void off() {
    try {
      LOG.warn(
          "RDMA is not used in this executor, its shuffle reads use TCP: {}. {}",
          String.join("; ", lifecycle.reasons()),
          RUN_DOCTOR);
    } catch (Throwable e) {
      // No memory for the line.
    }
  }

  /** RDMA was up. */
  void loss() {
    try {
      LOG.warn(
          "RDMA is not used in this executor until it can be started: {}",
          String.join("; ", lifecycle.reasons()));
    } catch (Throwable e) {
      // No memory for the line.
    }
  }

  /** A part has not closed. */
  void unclosed() {
    try {
      LOG.warn(
          "RDMA stays off in this executor until it is closed completely; the close is repeated");
    } catch (Throwable e) {
      // No memory for the line.
    }
  }

  /**
   * A later start has failed.
   *
   * @param known reasons of the line before
   */
  void nextAttempt(List<String> known) {
    try {
      List<String> reasons = lifecycle.reasons();
      if (reasons.equals(known)) {
        LOG.info("RDMA still cannot be started: nextAttemptMs={}", backoff.delayMs());
      } else {
        // The first reason may be over, and this one may need a person.
        LOG.warn(
            "RDMA cannot be started; next attempt in {} ms: {}",
            backoff.delayMs(),
            String.join("; ", reasons));
      }
    } catch (Throwable e) {
      // No memory for the line.
    }
  }

  /** A failure at the end of a start, which counts as a loss. */
  void notAnnounced(Throwable failure) {
    try {
      LOG.warn(
          "RDMA did not start in this executor; its shuffle reads use TCP until it is started"
              + " again",
          failure);
    } catch (Throwable e) {
      // No memory for the line.
    }
  }

  /** The next check follows. */
  void failedCheck(Throwable failure) {
    try {
      LOG.warn("Check of the RDMA transport failed", failure);
    } catch (Throwable e) {
      // No memory for the line.
    }
  }

  /** The next step follows. */
  void failedStep(Throwable failure) {
    try {
      LOG.warn("A step of the start or the end of RDMA failed in this executor", failure);
    } catch (Throwable e) {
      // No memory for the line.
    }
  }
}
