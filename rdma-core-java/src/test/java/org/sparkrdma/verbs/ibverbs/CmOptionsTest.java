// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.ibverbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.sparkrdma.verbs.VerbsException;
import org.sparkrdma.verbs.ibverbs.CmOptions.Option;

class CmOptionsTest {
  private static final int EINVAL = 22;

  private final List<String> calls = new ArrayList<>();

  @Test
  void shouldSetOptionsByTheirNumbers() throws Exception {
    CmOptions options = failingWith(0);

    options.set(7, Option.TOS, 104);
    options.set(8, Option.ACK_TIMEOUT, 17);

    // RDMA_OPTION_ID_TOS and RDMA_OPTION_ID_ACK_TIMEOUT in rdma/rdma_cma.h.
    assertThat(calls).containsExactly("7 0 104", "8 3 17");
    assertThat(options.missing()).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(ints = {38, 92, 95})
  void shouldGoOnWithoutAnOptionThatTheKernelLacks(int errno) {
    CmOptions options = failingWith(errno);

    assertThatCode(() -> options.set(7, Option.ACK_TIMEOUT, 17)).doesNotThrowAnyException();
    assertThatCode(() -> options.set(8, Option.ACK_TIMEOUT, 17)).doesNotThrowAnyException();

    assertThat(options.missing()).containsExactly(Option.ACK_TIMEOUT);
    // Neither called nor logged again.
    assertThat(calls).hasSize(1);
  }

  @Test
  void shouldTryOtherOptionsWhenOneIsMissing() throws Exception {
    CmOptions options = failingWith(38);
    options.set(7, Option.ACK_TIMEOUT, 17);

    options.set(7, Option.TOS, 104);

    assertThat(calls).hasSize(2);
  }

  @Test
  void shouldFailWhenTheKernelRefusesTheValue() {
    CmOptions options = failingWith(EINVAL);

    assertThatThrownBy(() -> options.set(7, Option.TOS, 104))
        .isInstanceOf(VerbsException.class)
        .hasMessageContaining("option=RDMA_OPTION_ID_TOS value=104");
    assertThat(options.missing()).isEmpty();
  }

  private CmOptions failingWith(int errno) {
    return new CmOptions(
        "test0",
        (id, option, value) -> {
          calls.add(id + " " + option + " " + value);
          return errno;
        });
  }
}
