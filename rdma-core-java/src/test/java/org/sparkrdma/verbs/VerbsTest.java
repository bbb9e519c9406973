// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.reflect.Proxy;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.sparkrdma.verbs.spi.EngineSettings;
import org.sparkrdma.verbs.spi.EngineUnavailableException;
import org.sparkrdma.verbs.spi.VerbsProvider;

class VerbsTest {
  private static final int EIO = 5;
  private static final int EINVAL = 22;

  /** A provider whose load fails with that error of a device. */
  private static VerbsProvider failing(int errno) {
    var failure =
        new EngineUnavailableException(
            "no device answers", new VerbsException("ibv_query_device", errno, "fails", null));
    return (VerbsProvider)
        Proxy.newProxyInstance(
            VerbsTest.class.getClassLoader(),
            new Class<?>[] {VerbsProvider.class},
            (proxy, method, arguments) -> {
              if (method.getName().equals("load")) {
                throw failure;
              }
              return "fails" + errno;
            });
  }

  @ParameterizedTest
  @CsvSource({EIO + ", true", EINVAL + ", false"})
  void shouldReportThatAnEngineMayHaveADeviceLater(int errno, boolean mayPass) {
    Verbs.Choice choice =
        Verbs.choose(List.of(failing(errno), failing(EINVAL)), EngineSettings.none());

    assertThat(choice.engine()).isNull();
    assertThat(choice.reasons())
        .containsExactly("fails" + errno + ": no device answers", "fails22: no device answers");
    assertThat(choice.mayPass()).isEqualTo(mayPass);
  }
}
