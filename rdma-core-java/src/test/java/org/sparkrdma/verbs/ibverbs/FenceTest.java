// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.ibverbs;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.sparkrdma.verbs.VerbsEngine;
import org.sparkrdma.verbs.ibverbs.ffi.ScriptedLibrary;
import org.sparkrdma.verbs.ibverbs.ffi.VerbsLibrary;

/** Fences of sends, on a device in C that reports the vendor id of a driver. */
@Timeout(value = 60, unit = TimeUnit.SECONDS)
class FenceTest {
  private static final int SEND = 2;
  private static final int READ = 4;

  @ParameterizedTest
  @CsvSource({"siw, 0x626d74, true", "rxe, 0xffffff, false", "Chelsio, 0x1425, false"})
  void shouldFenceSendsOnlyWhereTheDriverCompletesThemBeforeReads(
      String name, int vendorId, boolean isFenced) throws Exception {
    ScriptedLibrary library = ScriptedLibrary.load();
    library.reset();
    library.limit("vendor", vendorId);
    try (VerbsEngine engine = ScriptedEngine.over(library);
        ScriptedExchange exchange = new ScriptedExchange(engine)) {
      exchange.run();

      assertThat(library.sendFlags(SEND))
          .as(name)
          .isEqualTo(VerbsLibrary.SEND_SIGNALED | (isFenced ? VerbsLibrary.SEND_FENCE : 0));
      assertThat(library.sendFlags(READ)).isEqualTo(VerbsLibrary.SEND_SIGNALED);
    } finally {
      library.reset();
    }
  }
}
