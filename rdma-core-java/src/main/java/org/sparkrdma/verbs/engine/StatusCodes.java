/*
 * Licensed under the Apache License, Version 2.0 (the "License");
 * you may not use this file except in compliance with the License.
 * You may obtain a copy of the License at
 *
 *     http://www.apache.org/licenses/LICENSE-2.0
 *
 * Unless required by applicable law or agreed to in writing, software
 * distributed under the License is distributed on an "AS IS" BASIS,
 * WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
 * See the License for the specific language governing permissions and
 * limitations under the License.
 */
package org.sparkrdma.verbs.engine;

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
