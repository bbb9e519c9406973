// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.engine;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.sparkrdma.verbs.WorkStatus;

/** Translation of the codes in the order of {@code enum ibv_wc_status} in infiniband/verbs.h. */
class StatusCodesTest {
  private static final long SEED = 20_261_122;

  /** IBV_WC_GENERAL_ERR, the last code but those of tag matching. */
  private static final int GENERAL_ERROR = 21;

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
