// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.engine;

import org.sparkrdma.verbs.WorkStatus;

/** Numbers of the fields of struct ibv_wc, see ibv_poll_cq(3). */
public final class StatusCodes {
  /** Opcode of a receive that a WRITE has consumed. */
  public static final int RECEIVED_WITH_WRITE = 129;

  /** Flag of a completion with immediate data. */
  public static final int WITH_IMMEDIATE = 2;

  private static final WorkStatus[] STATUSES = {
    WorkStatus.SUCCESS,
    WorkStatus.LOCAL_LENGTH_ERROR,
    WorkStatus.LOCAL_QUEUE_PAIR_ERROR,
    WorkStatus.GENERAL_ERROR,
    WorkStatus.LOCAL_PROTECTION_ERROR,
    WorkStatus.FLUSH_ERROR,
    WorkStatus.GENERAL_ERROR,
    WorkStatus.GENERAL_ERROR,
    WorkStatus.GENERAL_ERROR,
    WorkStatus.REMOTE_INVALID_REQUEST,
    WorkStatus.REMOTE_ACCESS_ERROR,
    WorkStatus.REMOTE_OPERATION_ERROR,
    WorkStatus.RETRY_EXCEEDED,
    WorkStatus.RECEIVER_NOT_READY_RETRY_EXCEEDED,
    WorkStatus.GENERAL_ERROR,
    WorkStatus.GENERAL_ERROR,
    WorkStatus.REMOTE_ABORTED
  };

  private StatusCodes() {}

  /** The status of a code; an unknown code is a general error. */
  public static WorkStatus of(int code) {
    return code >= 0 && code < STATUSES.length ? STATUSES[code] : WorkStatus.GENERAL_ERROR;
  }
}
