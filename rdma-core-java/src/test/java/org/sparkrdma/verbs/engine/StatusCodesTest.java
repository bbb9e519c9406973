// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.engine;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.sparkrdma.verbs.WorkStatus;

/** Translation of the codes in the order of {@code enum ibv_wc_status} in infiniband/verbs.h. */
class StatusCodesTest {
  /** IBV_WC_GENERAL_ERR is 21, the last code but those of tag matching. */
  @ParameterizedTest
  @ValueSource(ints = {-1, Integer.MIN_VALUE, 21, 22, 23, 1_000, Integer.MAX_VALUE})
  void shouldTakeAnUnknownCodeForAGeneralError(int code) {
    assertThat(StatusCodes.of(code)).isEqualTo(WorkStatus.GENERAL_ERROR);
  }
}
