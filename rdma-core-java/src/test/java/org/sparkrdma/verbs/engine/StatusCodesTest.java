// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.engine;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.sparkrdma.verbs.WorkStatus;

/** Translation of the codes in the order of {@code enum ibv_wc_status} in infiniband/verbs.h. */
class StatusCodesTest {
  private static final long SEED = 20_261_122;

  /** IBV_WC_GENERAL_ERR, the last code but those of tag matching. */
  private static final int GENERAL_ERROR = 21;

  @ParameterizedTest(name = "{1} is {2}")
  @CsvSource({
    "0, IBV_WC_SUCCESS, SUCCESS",
    "1, IBV_WC_LOC_LEN_ERR, LOCAL_LENGTH_ERROR",
    "2, IBV_WC_LOC_QP_OP_ERR, LOCAL_QUEUE_PAIR_ERROR",
    "3, IBV_WC_LOC_EEC_OP_ERR, GENERAL_ERROR",
    "4, IBV_WC_LOC_PROT_ERR, LOCAL_PROTECTION_ERROR",
    "5, IBV_WC_WR_FLUSH_ERR, FLUSH_ERROR",
    "6, IBV_WC_MW_BIND_ERR, GENERAL_ERROR",
    "7, IBV_WC_BAD_RESP_ERR, GENERAL_ERROR",
    "8, IBV_WC_LOC_ACCESS_ERR, GENERAL_ERROR",
    "9, IBV_WC_REM_INV_REQ_ERR, REMOTE_INVALID_REQUEST",
    "10, IBV_WC_REM_ACCESS_ERR, REMOTE_ACCESS_ERROR",
    "11, IBV_WC_REM_OP_ERR, REMOTE_OPERATION_ERROR",
    "12, IBV_WC_RETRY_EXC_ERR, RETRY_EXCEEDED",
    "13, IBV_WC_RNR_RETRY_EXC_ERR, RECEIVER_NOT_READY_RETRY_EXCEEDED",
    "14, IBV_WC_LOC_RDD_VIOL_ERR, GENERAL_ERROR",
    "15, IBV_WC_REM_INV_RD_REQ_ERR, GENERAL_ERROR",
    "16, IBV_WC_REM_ABORT_ERR, REMOTE_ABORTED",
    "17, IBV_WC_INV_EECN_ERR, GENERAL_ERROR",
    "21, IBV_WC_GENERAL_ERR, GENERAL_ERROR"
  })
  void shouldTranslateTheCodesOfLibibverbs(int code, String name, WorkStatus status) {
    assertThat(StatusCodes.of(code)).as(name).isEqualTo(status);
  }

  @Test
  void shouldTakeAnUnknownCodeForAGeneralError() {
    SplittableRandom random = new SplittableRandom(SEED);
    assertThat(StatusCodes.of(-1)).isEqualTo(WorkStatus.GENERAL_ERROR);
    assertThat(StatusCodes.of(Integer.MIN_VALUE)).isEqualTo(WorkStatus.GENERAL_ERROR);
    assertThat(StatusCodes.of(Integer.MAX_VALUE)).isEqualTo(WorkStatus.GENERAL_ERROR);
    for (int i = 0; i < 1_000; i++) {
      int code = random.nextInt(GENERAL_ERROR, Integer.MAX_VALUE);
      assertThat(StatusCodes.of(code)).as("code=%d", code).isEqualTo(WorkStatus.GENERAL_ERROR);
      assertThat(StatusCodes.of(-code)).as("code=%d", -code).isEqualTo(WorkStatus.GENERAL_ERROR);
    }
  }
}
