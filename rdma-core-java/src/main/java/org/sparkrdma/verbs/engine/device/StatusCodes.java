// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.engine.device;

import org.sparkrdma.verbs.WorkStatus;

/** Translates ibv_wc_status, see ibv_poll_cq(3). */
public final class StatusCodes {
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
